import type { DocumentErrorCode } from '../../core/document-error.ts'
import type { PageLinks } from '../read/links.ts'
import type { ReadDocument, ReadInput } from '../read/read.ts'
import type { Sitemap } from '../read/sitemap.ts'

/** What the process that reads can be asked. It answers in order. Everything that comes from outside is looked at in there only. */
export interface Reads {
  document: { input: ReadInput; result: ReadDocument }
  links: { input: { content: Uint8Array; mediaType: string; url: string }; result: PageLinks }
  sitemap: { input: { content: Uint8Array; mediaType: string }; result: Sitemap }
}

export type ReadRequest = { [K in keyof Reads]: { what: K; input: Reads[K]['input'] } }[keyof Reads]
/** `ready` comes first: the process has loaded what it reads with. */
export type ReadAnswer = { ready: true } | { result: unknown } | { error: { code: DocumentErrorCode; message: string } }

/** How the process ends where something took more memory than it may. */
export const OUT_OF_MEMORY = 86
