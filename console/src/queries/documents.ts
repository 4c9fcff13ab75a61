import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type {
  AddDocumentInput,
  Document,
  DocumentStatus,
  Hit,
  Metadata,
  Passage,
  SearchTrace,
  UpdateDocumentInput,
} from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { Document, DocumentStatus, Hit, Metadata, Passage, SearchTrace }

/** The title and the content of a document: a text or a URL. */
export type NewDocument = Omit<AddDocumentInput, 'agentId'>

const PAGE = 50
const LOOK_EVERY_MS = 1_000
/** Polling limit in pages per second. Each poll refetches all pages of the list. */
const MOST_PAGES_A_SECOND = 2

export const isUnfinished = ({ status }: { status: DocumentStatus }) => status === 'queued' || status === 'processing'

/** The documents of an agent, newest first, paginated. Polls while a document is queued or processing. */
export function useDocuments(agentId: string, status?: DocumentStatus) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.of(agentId, 'documents', 'list', status),
    read: (cursor, signal) => client.documents.list({ agentId, limit: PAGE, status, cursor }, { signal }),
    rowsOf: (page) => page.documents,
    refetchInterval: ({ state: { data } }) => {
      const isBusy = data?.pages.some(({ documents }) => documents.some(isUnfinished))
      return isBusy ? LOOK_EVERY_MS * Math.ceil(data!.pages.length / MOST_PAGES_A_SECOND) : false
    },
  })
  return { ...query, documents: rows }
}

/** The number of documents with a status. */
export function useDocumentCount(agentId: string, status: DocumentStatus) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'documents', 'count', status),
    queryFn: async ({ signal }) => (await client.documents.list({ agentId, status, limit: 1 }, { signal })).pagination.total,
  })
}

/** A document. Polls while it is queued or processing. */
export function useDocument(agentId: string, documentId: string) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'documents', 'one', documentId),
    queryFn: async ({ signal }) => (await client.documents.get({ agentId, documentId }, { signal })).document,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isUnfinished(data) ? LOOK_EVERY_MS : false),
  })
}

/** The passages of a document, as the service parsed it, paginated. */
export function usePassages(agentId: string, documentId: string) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.of(agentId, 'documents', 'passages', documentId),
    read: (cursor, signal) => client.documents.passages({ agentId, documentId, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.passages,
  })
  return { ...query, passages: rows }
}

/** Invalidates the cached documents, searches and counts of an agent; visible data is refetched. */
export function useForgetDocuments(agentId: string) {
  const queries = useQueryClient()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'documents') }),
      queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'search') }),
      queries.invalidateQueries({ queryKey: keyOf.agent(agentId), exact: true }),
    ])
}

export function useAddDocument(agentId: string) {
  const client = useClient()
  const forget = useForgetDocuments(agentId)
  return useMutation({
    mutationFn: async (document: NewDocument) => (await client.documents.add({ agentId, ...document })).document,
    onSuccess: forget,
  })
}

/** Replaces the content of a document with a file, a text or an address. The title and the metadata stay. */
export function useReplaceDocument(agentId: string) {
  const client = useClient()
  const forget = useForgetDocuments(agentId)
  return useMutation({
    mutationFn: async ({ document, by }: { document: Document; by: File | NewDocument }) => {
      const { id, title, metadata } = document
      return by instanceof File
        ? (await client.documents.replaceFile({ agentId, documentId: id, file: by, title, metadata })).document
        : (await client.documents.replace({ agentId, documentId: id, title, metadata, ...by })).document
    },
    onSuccess: forget,
  })
}

export function useUpdateDocument(agentId: string, documentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  const forget = useForgetDocuments(agentId)
  return useMutation({
    mutationFn: async (changes: Pick<UpdateDocumentInput, 'title' | 'metadata'>) =>
      (await client.documents.update({ agentId, documentId, ...changes })).document,
    onSuccess: (document) => {
      queries.setQueryData(keyOf.of(agentId, 'documents', 'one', documentId), document)
      void forget()
    },
  })
}

/** Deletes documents one after the other. If one fails, the documents before it are already deleted. */
export function useDeleteDocuments(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  const forget = useForgetDocuments(agentId)
  return useMutation({
    mutationFn: async (documentIds: readonly string[]) => {
      for (const id of documentIds) {
        await client.documents.delete({ agentId, documentId: id })
        queries.removeQueries({ queryKey: keyOf.of(agentId, 'documents', 'one', id) })
      }
    },
    onSettled: forget,
  })
}

/** The passages that would ground the reply to a question, with the trace and the duration in milliseconds. */
export function useSearch(agentId: string, query: string, topK: number) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'search', query, topK),
    queryFn: async ({ signal }) => {
      const begin = performance.now()
      const { hits, trace } = await client.documents.search({ agentId, query, topK, include: ['trace'] }, { signal })
      return { hits, trace: trace!, ms: performance.now() - begin }
    },
    enabled: query !== '',
  })
}
