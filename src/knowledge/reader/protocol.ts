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
/** The processor time, in milliseconds, that the document which is read now has taken. Said every 100 ms. */
export interface Busy {
  cpuMs: number
}

/** `ready`: the process has loaded what it reads with. It comes first, and before the first document of each kind is read. */
export type ReadAnswer = { ready: true } | Busy | { result: unknown } | { error: { code: DocumentErrorCode; message: string } }

/** An argument of the process: it loads everything before it is ready. */
export const WARM = 'warm'

/** How the process ends where something took more memory than it may. */
export const OUT_OF_MEMORY = 86
