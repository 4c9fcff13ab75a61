/** The reasons why a document is `failed`. `docs/documents.md` describes the fix for each. */
export const documentErrorCodes = [
  'blank',
  'not_text',
  'damaged',
  'encrypted',
  'unsupported_type',
  'too_large',
  'too_costly',
  'address_refused',
  'unreachable',
  'fetch_failed',
  'internal_error',
] as const
export type DocumentErrorCode = (typeof documentErrorCodes)[number]

/** An error that marks a document as `failed`. The message is a sentence for the person who added it. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly code: DocumentErrorCode

  constructor(code: DocumentErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
