/** A piece of a document that a reader would not tear apart. Every format is read into these; `cut.ts` makes passages of them. */
export interface Block {
  kind: 'heading' | 'prose' | 'list' | 'table' | 'code'
  /** Markdown, or plain text; no blank line at either end. */
  text: string
  /** 1 to 6 for a heading, else 0. */
  level: number
  /** From 1, in a document that has pages: PDF, and the slides and sheets of Office. */
  page?: number
}

/** What a reader of one format makes of a document. */
export interface Reading {
  /** What the document calls itself; null where it does not say. */
  title: string | null
  blocks: Block[]
}
