/** Replaces characters that no store accepts, half of a surrogate pair and U+0000, with U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')
