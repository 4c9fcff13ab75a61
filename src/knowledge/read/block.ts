/** A piece of a document that belongs together. All formats are read into blocks, and `cut.ts` makes passages from them. */
export interface Block {
  /** `end` has no text: it ends the sections of its level and below. */
  kind: 'heading' | 'prose' | 'list' | 'table' | 'code' | 'end'
  /** Markdown, or plain text; no blank line at either end. */
  text: string
  /** 1 to 6 for a heading and an end, else 0. */
  level: number
  /** From 1, in a document that has pages: PDF, and the slides and sheets of Office. */
  page?: number
}

/** The result of reading a document of one format. */
export interface Reading {
  /** The title of the document, or null if it has none. */
  title: string | null
  blocks: Block[]
}
