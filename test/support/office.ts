import { zip } from './zip.ts'

const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
/** `[id, type, target]` of each relation. */
type Relations = [id: string, type: string, target: string][]

export const relations = (list: Relations): string =>
  `<Relationships>${list.map(([id, type, target]) => `<Relationship Id="${id}" Type="${TYPES}/${type}" Target="${target}"/>`).join('')}</Relationships>`

interface Parts {
  /** Further parts by path. */
  parts?: Record<string, string>
  relations?: Relations
  title?: string
}

const core = (title: string | undefined) =>
  title === undefined ? {} : { 'docProps/core.xml': `<cp:coreProperties><dc:title>${title}</dc:title></cp:coreProperties>` }

export const docx = (body: string, { parts = {}, relations: list = [], title }: Parts = {}): Buffer =>
  zip({
    '_rels/.rels': relations([['r1', 'officeDocument', 'word/document.xml']]),
    'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(list),
    ...core(title),
    ...parts,
  })

export const paragraph = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

/** Returns a workbook with these sheets: name, XML of the rows, and `state`. */
export const xlsx = (
  sheets: [name: string, rows: string, state?: string][],
  parts: Record<string, string> = {},
  workbook = '',
): Buffer =>
  zip({
    '_rels/.rels': relations([['r1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook>${workbook}<sheets>${sheets.map(([name, , state = 'visible'], i) => `<sheet name="${name}" sheetId="${i + 1}" state="${state}" r:id="s${i}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...sheets.map(([, ,], i) => [`s${i}`, 'worksheet', `worksheets/sheet${i}.xml`] as [string, string, string]),
      ['strings', 'sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles', '/xl/styles.xml'],
    ]),
    ...Object.fromEntries(
      sheets.map(([, rows], i) => [`xl/worksheets/sheet${i}.xml`, `<worksheet><sheetData>${rows}</sheetData></worksheet>`]),
    ),
    ...parts,
  })

/** Returns a presentation with slides in the given order. Each is the XML of its shapes, optionally with notes. */
export const pptx = (slides: { shapes: string; notes?: string }[]): Buffer =>
  zip({
    '_rels/.rels': relations([['r1', 'officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="s${i}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    // File names do not show the order: the last slide is slide0.xml.
    'ppt/_rels/presentation.xml.rels': relations(
      slides.map((_, i) => [`s${i}`, 'slide', `slides/slide${slides.length - 1 - i}.xml`]),
    ),
    ...Object.fromEntries(
      slides.flatMap(({ shapes, notes }, i) => {
        const name = `slide${slides.length - 1 - i}`
        return [
          [`ppt/slides/${name}.xml`, `<p:sld>${shapes}</p:sld>`],
          ...(notes === undefined
            ? []
            : [
                [`ppt/slides/_rels/${name}.xml.rels`, relations([['n', 'notesSlide', `../notesSlides/${name}.xml`]])],
                [`ppt/notesSlides/${name}.xml`, `<p:notes>${notes}</p:notes>`],
              ]),
        ]
      }),
    ),
  })

export const shape = (text: string, place = ''): string =>
  `<p:sp><p:nvPr>${place === '' ? '' : `<p:ph type="${place}"/>`}</p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`
