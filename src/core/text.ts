/** What no store can keep, half of a surrogate pair and U+0000, becomes U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')
