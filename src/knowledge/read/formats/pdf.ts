import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { DocumentError } from '../../../core/document-error.ts'
import type { Block, Reading } from '../block.ts'
import { type Line, toBlocks } from './pdf-layout.ts'

const MAX_PAGES = 5_000
const MAX_CHARS = 20_000_000
// Titles that programs write by default.
const NO_TITLE = /^(?:untitled|document\d*|microsoft word\b.*|.*\.(?:docx?|pptx?|xlsx?|indd|pdf|qxd|tex|dvi|ps|rtf))$/i

interface TextItem {
  str: string
  hasEOL: boolean
  width: number
  /** Matrix: the last two values are the position, the others give the size. */
  transform: number[]
}

/** Reads a PDF: the text of its pages in drawing order, in paragraphs, with headings detected by size. */
export async function readPdf(content: Uint8Array): Promise<Reading> {
  const { getDocument, VerbosityLevel, folder } = await loadPdfJs()
  const task = getDocument({
    // The library takes over the buffer, so it gets a copy.
    data: new Uint8Array(content),
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: `${folder}/cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${folder}/standard_fonts/`,
    // Only text is needed: nothing is drawn, run or fetched.
    useWorkerFetch: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 0,
    disableRange: true,
    disableStream: true,
    disableAutoFetch: true,
    stopAtErrors: false,
  })
  let isLocked = false
  task.onPassword = () => {
    isLocked = true
    void task.destroy()
  }
  try {
    const pdf = await task.promise
    if (pdf.numPages > MAX_PAGES)
      throw new DocumentError('too_large', `The PDF has more than ${MAX_PAGES} pages. Send it in parts.`)
    const pages: Line[][] = []
    let chars = 0
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number)
      const reader = page.streamTextContent({ includeMarkedContent: false, disableNormalization: false }).getReader()
      const lines = new Lines()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        for (const item of part.value.items as TextItem[]) {
          chars += item.str.length
          lines.add(item)
        }
        if (chars > MAX_CHARS) {
          reader.cancel(new Error('too much text')).catch(() => {})
          throw new DocumentError('too_large', `The PDF holds more than ${MAX_CHARS / 1e6} million characters. Send it in parts.`)
        }
      }
      pages.push(lines.end())
      page.cleanup()
    }
    const blocks = toBlocks(pages)
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }))
    return { title: titleOf((info as { Title?: unknown }).Title, blocks), blocks }
  } catch (error) {
    if (isLocked) throw new DocumentError('encrypted', 'The PDF is protected by a password: save it without one.')
    if (error instanceof DocumentError) throw error
    throw new DocumentError('damaged', 'The PDF is damaged.', { cause: error })
  } finally {
    await task.destroy()
  }
}

/** Joins the pieces of text of a page into lines. */
class Lines {
  readonly #lines: Line[] = []
  #text = ''
  #sizes = new Map<number, number>()
  #left = Number.POSITIVE_INFINITY
  #right = Number.NEGATIVE_INFINITY
  #y = 0

  add({ str, hasEOL, width, transform }: TextItem): void {
    // Items without `str` are marked content, which was not requested.
    if (str === undefined) return
    if (str !== '') {
      if (this.#text === '') this.#y = transform[5]!
      this.#text += str
    }
    if (str.trim() !== '') {
      const size = Math.round(Math.hypot(transform[2]!, transform[3]!) * 2) / 2
      this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + str.length)
      this.#left = Math.min(this.#left, transform[4]!)
      this.#right = Math.max(this.#right, transform[4]! + width)
    }
    if (hasEOL) this.#endLine()
  }

  end(): Line[] {
    this.#endLine()
    return this.#lines
  }

  #endLine(): void {
    const text = this.#text.replace(/[\s\0]+/gu, ' ').trim()
    if (text !== '') {
      const [[size] = [0]] = [...this.#sizes].toSorted((a, b) => b[1] - a[1])
      this.#lines.push({ text, size, left: this.#left, right: this.#right, y: this.#y })
    }
    this.#text = ''
    this.#sizes = new Map()
    this.#left = Number.POSITIVE_INFINITY
    this.#right = Number.NEGATIVE_INFINITY
  }
}

function titleOf(given: unknown, blocks: readonly Block[]): string | null {
  if (typeof given === 'string' && given.trim().length > 2 && !NO_TITLE.test(given.trim())) return given
  return blocks.find(({ kind, page }) => kind === 'heading' && page === 1)?.text.replace(/^#+ /, '') ?? null
}

/** Loads the library that PDFs are read with, which takes longer than reading a short one. Throws `DocumentError` if it is not installed. */
export async function loadPdfJs() {
  const require = createRequire(import.meta.url)
  let folder: string
  try {
    folder = dirname(require.resolve('pdfjs-dist/package.json'))
  } catch (cause) {
    throw new DocumentError('unsupported_type', 'PDFs cannot be read here: the package pdfjs-dist is not installed.', { cause })
  }
  // The library searches for a canvas when it loads and warns on the console. Text needs no canvas.
  const { warn } = console
  console.warn = () => {}
  try {
    const world = globalThis as Record<string, unknown>
    world['DOMMatrix'] ??= class {}
    world['Path2D'] ??= class {}
    const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs')
    // The library uses this global in the same thread, instead of a worker.
    world['pdfjsWorker'] ??= await import('pdfjs-dist/legacy/build/pdf.worker.mjs' as string)
    return { ...pdfjs, folder }
  } finally {
    console.warn = warn
  }
}
