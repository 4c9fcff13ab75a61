// The headings above a passage are stored and shown as one text, outermost first: "Returns › Refunds".

const SEPARATOR = ' › '

/** Joins headings, outermost first, and leaves out empty ones. */
export const joinHeadings = (...headings: string[]): string => headings.filter((heading) => heading !== '').join(SEPARATOR)

export const splitHeadings = (path: string): string[] => path.split(SEPARATOR)

/** Returns the innermost heading of a path; empty if there is none. */
export const innermost = (path: string): string => splitHeadings(path).at(-1)!.trim()

/** The characters that a further heading adds to a path, in addition to its own. */
export const SEPARATOR_CHARS = SEPARATOR.length
