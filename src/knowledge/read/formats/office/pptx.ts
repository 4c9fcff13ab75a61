import { DocumentError } from '../../../../core/document-error.ts'
import type { Block, Reading } from '../../block.ts'
import { attribute, OfficeFile, type PartHandler } from './ooxml.ts'

/** Placeholders that are the same on every slide. */
const FURNITURE = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])
const MAX_INDENT = 6

/** Reads a presentation: one page per slide, with its title as heading, its text, tables and speaker notes. */
export async function readPptx(content: Uint8Array): Promise<Reading> {
  const file = await OfficeFile.open(content)
  const main = await file.mainPart('ppt/presentation.xml')
  const relations = await file.relations(main)
  const order: string[] = []
  const found = await file.parse(main, {
    open: (name, attributes) => {
      if (name === 'sldId') order.push(attributes['r:id'] ?? '')
    },
  })
  if (!found) throw new DocumentError('damaged', 'The presentation has no slides part.')
  const blocks: Block[] = []
  const slides = new Set(order.flatMap((id) => relations.get(id)?.target ?? []))
  for (const [at, slide] of [...slides].entries()) {
    const add = (block: Omit<Block, 'page'>) => blocks.push({ ...block, page: at + 1 })
    await file.parse(slide, slideHandler(add))
    for (const { type, target } of (await file.relations(slide)).values()) {
      if (type === 'diagramData' || type === 'notesSlide') await file.parse(target, slideHandler(add))
    }
  }
  const heading = blocks.find((block) => block.kind === 'heading')?.text.replace(/^#+ /, '')
  return { title: (await file.title()) ?? heading ?? null, blocks }
}

function slideHandler(add: (block: Omit<Block, 'page'>) => void): PartHandler {
  let place: string | undefined
  let paragraph: { text: string; depth: number } | undefined
  let lines: string[] = []
  let rows: string[] = []
  let row: string[] | undefined
  let cell: string[] | undefined
  let inText = false
  let passedOver = 0
  const endLines = () => {
    if (lines.length > 0) add({ kind: lines.length > 1 ? 'list' : 'prose', level: 0, text: lines.join('\n') })
    lines = []
  }
  const endParagraph = () => {
    const text = paragraph?.text.replace(/[^\S\n]+/gu, ' ').trim() ?? ''
    const depth = paragraph?.depth ?? 0
    paragraph = undefined
    if (text === '' || (place !== undefined && FURNITURE.has(place))) return
    if (cell !== undefined) cell.push(text)
    else if (place === 'title' || place === 'ctrTitle')
      add({ kind: 'heading', level: 2, text: `## ${text.replaceAll('\n', ' ')}` })
    else lines.push('  '.repeat(Math.min(MAX_INDENT, depth)) + text)
  }
  return {
    open: (name, attributes) => {
      if (passedOver > 0 || name === 'Fallback') passedOver++
      else if (name === 'sp') place = undefined
      else if (name === 'ph') place = attribute(attributes, 'type') ?? 'body'
      else if (name === 'p') paragraph = { text: '', depth: 0 }
      else if (name === 'pPr' && paragraph !== undefined) paragraph.depth = Number(attributes['lvl']) || 0
      else if (name === 't') inText = true
      else if (name === 'br' && paragraph !== undefined) paragraph.text += '\n'
      else if (name === 'tr') row = []
      else if (name === 'tc') cell = []
    },
    close: (name) => {
      if (passedOver > 0) passedOver--
      else if (name === 't') inText = false
      else if (name === 'p') endParagraph()
      else if (name === 'sp') endLines()
      else if (name === 'tc') {
        row?.push((cell ?? []).join(' ').replace(/\s+/gu, ' '))
        cell = undefined
      } else if (name === 'tr') {
        if (row?.some((text) => text !== '')) rows.push(row.join(' | '))
        row = undefined
      } else if (name === 'tbl') {
        endLines()
        if (rows.length > 0) add({ kind: 'table', level: 0, text: rows.join('\n') })
        rows = []
      } else if (name === 'dataModel') endLines()
    },
    text: (text) => {
      if (inText && passedOver === 0 && paragraph !== undefined) paragraph.text += text
    },
  }
}
