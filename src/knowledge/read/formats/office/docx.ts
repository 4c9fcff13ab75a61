import { DocumentError } from '../../../../core/document-error.ts'
import type { Block, Reading } from '../../block.ts'
import { Numbering } from './docx-numbering.ts'
import { attribute, OfficeFile, type PartHandler, type XmlAttributes } from './ooxml.ts'

/** Elements without visible text: deleted text, moved text, a second form of the same content, or a field instruction. */
const PASSED_OVER = new Set(['Fallback', 'del', 'moveFrom', 'instrText', 'delText'])
const HEADING = /^heading (\d)$/i
const DEEPEST_HEADING = 6
/** Level of the outline or of a list. */
const LEVEL = /^\d$/

/** Properties that a style gives to its paragraphs. */
interface Style {
  level?: number
  basedOn?: string
  list?: ListPlace
}
interface ListPlace {
  id: string
  level: number
}

interface Paragraph {
  text: string
  level: number
  list?: ListPlace | undefined
}

const levelOf = (value: string): number => (LEVEL.test(value) ? Number(value) : 0)

/** Reads a Word document: headings by style, numbered lists, tables, and notes at the end. */
export async function readDocx(content: Uint8Array): Promise<Reading> {
  const file = await OfficeFile.open(content)
  const main = await file.mainPart('word/document.xml')
  const relations = [...(await file.relations(main)).values()]
  const part = (type: string) => relations.find((relation) => relation.type === type)?.target ?? ''
  const styles = await readStyles(file, part('styles'))
  const numbering = await Numbering.read(file, part('numbering'))
  const body = new Body(styles, numbering)
  if (!(await file.parse(main, body.handler()))) throw new DocumentError('damaged', 'The Word document has no text part.')
  for (const notes of ['footnotes', 'endnotes']) await file.parse(part(notes), body.handler())
  const { blocks } = body
  const heading = blocks.find((block) => block.kind === 'heading')?.text.replace(/^#+ /, '')
  return { title: (await file.title()) ?? heading ?? null, blocks }
}

async function readStyles(file: OfficeFile, part: string): Promise<Map<string, Style>> {
  const styles = new Map<string, Style>()
  let style: Style | undefined
  await file.parse(part, {
    open: (name, attributes) => {
      const value = attribute(attributes, 'val') ?? ''
      if (name === 'style') {
        style = {}
        styles.set(attribute(attributes, 'styleId') ?? '', style)
      } else if (style === undefined) return
      else if (name === 'name') {
        const level = HEADING.exec(value)?.[1]
        if (level !== undefined) style.level = Number(level)
        else if (/^title$/i.test(value)) style.level = 1
      } else if (name === 'outlineLvl' && LEVEL.test(value)) style.level ??= Number(value) + 1
      else if (name === 'basedOn') style.basedOn = value
      else if (name === 'numId') style.list = { level: 0, ...style.list, id: value }
      else if (name === 'ilvl') style.list = { id: '', ...style.list, level: levelOf(value) }
    },
    close: (name) => {
      if (name === 'style') style = undefined
    },
  })
  return styles
}

/** Joins the text of a part into blocks. */
class Body {
  readonly blocks: Block[] = []
  readonly #styles: Map<string, Style>
  readonly #numbering: Numbering

  constructor(styles: Map<string, Style>, numbering: Numbering) {
    this.#styles = styles
    this.#numbering = numbering
  }

  handler(): PartHandler {
    const open: Paragraph[] = []
    const tables: Table[] = []
    let passedOver = 0
    let inText = false
    const say = (text: string) => {
      const paragraph = open.at(-1)
      if (paragraph !== undefined) paragraph.text += text
    }
    return {
      open: (name, attributes) => {
        if (passedOver > 0 || PASSED_OVER.has(name)) {
          passedOver++
          return
        }
        if (name === 'p') open.push({ text: '', level: 0 })
        else if (name === 't') inText = true
        else if (name === 'tab') say('\t')
        else if (name === 'br' || name === 'cr') say('\n')
        else if (name === 'noBreakHyphen') say('-')
        else if (name === 'tbl') tables.push({ rows: [], row: undefined, cell: undefined })
        else if (name === 'tr') tables.at(-1)!.row = []
        else if (name === 'tc') tables.at(-1)!.cell = []
        else this.#format(open.at(-1), name, attributes)
      },
      close: (name) => {
        if (passedOver > 0) {
          passedOver--
          return
        }
        if (name === 't') inText = false
        else if (name === 'p') this.#end(open.pop(), tables.at(-1)?.cell)
        else if (name === 'tc' || name === 'tr' || name === 'tbl') this.#endInTable(name, tables)
      },
      text: (text) => {
        if (inText && passedOver === 0) say(text)
      },
    }
  }

  #format(paragraph: Paragraph | undefined, name: string, attributes: XmlAttributes): void {
    if (paragraph === undefined) return
    const value = attribute(attributes, 'val') ?? ''
    if (name === 'pStyle') {
      paragraph.level = this.#inherited(value, 'level') ?? 0
      paragraph.list = this.#inherited(value, 'list')
    } else if (name === 'outlineLvl' && LEVEL.test(value))
      paragraph.level = Number(value) < DEEPEST_HEADING ? Number(value) + 1 : 0
    else if (name === 'numId') paragraph.list = { level: 0, ...paragraph.list, id: value }
    else if (name === 'ilvl') paragraph.list = { id: '', ...paragraph.list, level: levelOf(value) }
  }

  #inherited<K extends 'level' | 'list'>(id: string, what: K): Style[K] | undefined {
    let style = this.#styles.get(id)
    for (let depth = 0; style !== undefined && depth < 10; depth++) {
      if (style[what] !== undefined) return style[what]
      style = style.basedOn === undefined ? undefined : this.#styles.get(style.basedOn)
    }
    return undefined
  }

  #end(paragraph: Paragraph | undefined, cell: string[] | undefined): void {
    if (paragraph === undefined) return
    const text = paragraph.text.replace(/[^\S\n]+/gu, ' ').trim()
    // An empty paragraph has no number.
    if (text === '') return
    const { level } = paragraph
    const label = paragraph.list === undefined ? '' : this.#numbering.next(paragraph.list.id, paragraph.list.level)
    const labelled = label === '' ? text : `${label} ${text}`
    if (cell !== undefined) cell.push(labelled)
    else if (level > 0 && level <= DEEPEST_HEADING) {
      const line = labelled.replaceAll('\n', ' ')
      this.blocks.push({ kind: 'heading', level, text: `${'#'.repeat(level)} ${line}` })
    } else if (label !== '') this.#addItem(`${'  '.repeat(paragraph.list!.level)}${labelled}`)
    else this.blocks.push({ kind: 'prose', level: 0, text })
  }

  /** Adds an item. Consecutive items form one list. */
  #addItem(text: string): void {
    const last = this.blocks.at(-1)
    if (last?.kind === 'list') last.text += `\n${text}`
    else this.blocks.push({ kind: 'list', level: 0, text })
  }

  #endInTable(name: 'tc' | 'tr' | 'tbl', tables: Table[]): void {
    const table = tables.at(-1)
    if (table === undefined) return
    if (name === 'tc') {
      table.row?.push((table.cell ?? []).join(' ').replace(/\s+/gu, ' '))
      table.cell = undefined
    } else if (name === 'tr') {
      if (table.row?.some((cell) => cell !== '')) table.rows.push(table.row.join(' | '))
      table.row = undefined
    } else {
      tables.pop()
      const outer = tables.at(-1)?.cell
      if (outer !== undefined) outer.push(table.rows.join(' '))
      else if (table.rows.length > 0) this.blocks.push({ kind: 'table', level: 0, text: table.rows.join('\n') })
    }
  }
}

interface Table {
  rows: string[]
  row: string[] | undefined
  cell: string[] | undefined
}
