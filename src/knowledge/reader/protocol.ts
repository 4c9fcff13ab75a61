import type { DocumentErrorCode } from '../../core/document-error.ts'
import type { PageLinks } from '../read/links.ts'
import type { ReadDocument, ReadInput } from '../read/read.ts'
import type { Sitemap } from '../read/sitemap.ts'

/** Requests to the reading process, which answers in order. Only this process parses content from outside. */
export interface Reads {
  document: { input: ReadInput; result: ReadDocument }
  links: { input: { content: Uint8Array; mediaType: string; url: string }; result: PageLinks }
  sitemap: { input: { content: Uint8Array; mediaType: string }; result: Sitemap }
}

export type ReadRequest = { [K in keyof Reads]: { what: K; input: Reads[K]['input'] } }[keyof Reads]
/** The processor time of the current document in milliseconds. Sent every 100 ms. */
export interface Busy {
  cpuMs: number
}

/** `ready`: the process has loaded its readers. Sent first, and again before the first document of each kind is read. */
export type ReadAnswer = { ready: true } | Busy | { result: unknown } | { error: { code: DocumentErrorCode; message: string } }

/** Argument of the process: it loads all readers before it is ready. */
export const WARM = 'warm'

/** Exit code of the process if reading took more memory than allowed. */
export const OUT_OF_MEMORY = 86
