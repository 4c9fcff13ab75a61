/** Returns a file name that is valid on every operating system. */
const fileName = (name: string, ending: string) => {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
  return `${plain.slice(0, 60) || 'file'}.${ending}`
}

const KEPT_MS = 10_000

/** Downloads a file that was created in the browser. */
export function download(name: string, ending: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName(name, ending)
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
