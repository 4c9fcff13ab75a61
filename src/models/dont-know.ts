/** The reply where the knowledge base does not hold the answer. */
export const DONT_KNOW = "I don't know: the knowledge base does not hold an answer to this question."
