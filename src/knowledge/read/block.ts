/** A piece of a document that a reader would not tear apart. Every format is read into these; `cut.ts` makes passages of them. */
export interface Block {
  /** `end` has no text: from there on, headings of its level and below no longer hold. */
  kind: 'heading' | 'prose' | 'list' | 'table' | 'code' | 'end'
  /** Markdown, or plain text; no blank line at either end. */
  text: string
  /** 1 to 6 for a heading and an end, else 0. */
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
