// Readers of files that are not text: what they make of honest ones, and how they end with those made to break programs.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { DocumentError, type DocumentErrorCode } from '../../src/core/document-error.ts'
import { SlowOwners } from '../../src/core/fairness/slow-owners.ts'
import { readLinks } from '../../src/knowledge/read/links.ts'
import { readDocument } from '../../src/knowledge/read/read.ts'
import { readSitemap } from '../../src/knowledge/read/sitemap.ts'
import { DocumentReader, DocumentReaders } from '../../src/knowledge/reader/reader.ts'
import { docx, paragraph, pptx, shape, xlsx } from '../support/office.ts'
import { assemble, type PdfText, pdf, stream } from '../support/pdf.ts'
import { zip } from '../support/zip.ts'

const read = (content: Uint8Array, filename = 'file', mediaType = '') => readDocument({ content, filename, mediaType })
const textOf = async (content: Uint8Array, filename?: string) =>
  (await read(content, filename)).passages.map(({ text }) => text).join('\n\n')
const refuses = (promise: Promise<unknown>, code: DocumentErrorCode) =>
  assert.rejects(promise, (error) => error instanceof DocumentError && error.code === code && /^[A-Z].*\.$/.test(error.message))

describe('PDF', () => {
  const page = (...lines: string[]): PdfText[] => lines.map((text, i) => ({ text, y: 700 - 12 * i }))

  test('headings are told by their size, paragraphs by their gaps, and passages know their page', async () => {
    const long = 'Lanterns are checked every morning before the gates of the yard are opened.'
    const { passages, title, mediaType } = await read(
      pdf([
        [
          { text: 'Lantern manual', y: 740, size: 24 },
          { text: 'Care', y: 710, size: 14 },
          ...page(long, long, long),
          { text: 'A second paragraph.', y: 630 },
        ],
        [{ text: 'Storage', y: 740, size: 14 }, ...page('Lanterns are kept dry.', 'Oil is kept apart.')],
      ]),
    )
    assert.equal(mediaType, 'application/pdf')
    assert.equal(title, 'Lantern manual')
    assert.deepEqual(
      passages.map(({ page, heading }) => [page, heading]),
      [
        [1, 'Lantern manual › Care'],
        [2, 'Lantern manual › Storage'],
      ],
    )
    assert.equal(passages[0]!.text, `# Lantern manual\n\n## Care\n\n${long} ${long} ${long}\n\nA second paragraph.`)
  })

  test('words broken at the end of a line are whole again; lines that end early stay lines', async () => {
    const text = await textOf(
      pdf([
        page(
          'The lighthouse keeper walks up the stairs every eve-',
          'ning at six and lights the lamp of the great light.',
          'Oil: 5',
          'Wick: 7',
        ),
      ]),
    )
    assert.match(text, /every evening at six and lights/)
    assert.match(text, /Oil: 5\nWick: 7/)
  })

  test('each page begins a passage, however short; headings alone go with what follows', async () => {
    const { passages } = await read(
      pdf([
        [{ text: 'Lantern manual', y: 740, size: 24 }],
        [{ text: 'Care', y: 740, size: 14 }, ...page('Lanterns are kept dry.', 'Oil is kept apart.')],
        page('Wicks are cut on Fridays.', 'Glass is cleaned then, too.'),
      ]),
    )
    assert.deepEqual(
      passages.map(({ page, text }) => [page, text.includes('dry'), text.includes('Wicks')]),
      [
        [2, true, false],
        [3, false, true],
      ],
    )
  })

  test('running heads and page numbers are not text', async () => {
    const pages = Array.from({ length: 6 }, (_, i) => [
      { text: 'The yard handbook', y: 780 },
      ...page(`Chapter text number ${'abcdef'[i]}.`),
      { text: `Page ${i + 1} of 6`, y: 20 },
    ])
    const text = await textOf(pdf(pages))
    assert.doesNotMatch(text, /handbook|Page \d/)
    assert.match(text, /number a[\s\S]*number f/)
  })

  test('its own title counts, but for those that programs put there', async () => {
    assert.equal((await read(pdf([page('x y z')], { title: 'Yearly report' }))).title, 'Yearly report')
    assert.equal((await read(pdf([page('x y z')], { title: 'Microsoft Word - report.doc' }))).title, null)
  })

  for (const [encoding, collection, bytes, text] of [
    ['90ms-RKSJ-H', 'Japan1', '93fa967b8cea', '日本語'],
    ['EUC-H', 'Japan1', 'c6fccbdcb8ec', '日本語'],
    ['GBK-EUC-H', 'GB1', 'd6d0cec4', '中文'],
    ['UniGB-UTF16-H', 'GB1', '4e2d6587', '中文'],
    ['ETen-B5-H', 'CNS1', 'a4a4a4e5', '中文'],
    ['KSCms-UHC-H', 'Korea1', 'c7d1b1db', '한글'],
  ] as const) {
    test(`text in ${encoding}, of a font that is not in the file`, async () => {
      const objects = [
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>',
        stream(`BT /F1 20 Tf 50 700 Td <${bytes}> Tj ET`),
        `<< /Type /Font /Subtype /Type0 /BaseFont /Far /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
        `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Far /CIDSystemInfo << /Registry (Adobe) /Ordering (${collection}) /Supplement 2 >> /FontDescriptor 7 0 R >>`,
        '<< /Type /FontDescriptor /FontName /Far /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
      ]
      assert.equal(await textOf(assemble(objects)), text)
    })
  }

  test('with a password, without text, or broken, it is refused with the reason', async () => {
    await refuses(read(pdf([page('x')], { encrypted: true })), 'encrypted')
    await refuses(read(pdf([[]])), 'blank')
    await refuses(read(Buffer.from('%PDF-1.7\nnothing')), 'damaged')
    await refuses(read(pdf(Array(5_001).fill([]))), 'too_large')
  })
})

describe('Word', () => {
  const styles =
    '<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mine"><w:basedOn w:val="H1"/></w:style><w:style w:styleId="Out"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>'
  const level = (at: number, format: string, text: string) =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`
  const numbering = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'decimal', '%1.%2')}${level(2, 'lowerRoman', '(%3)')}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, 'bullet', 'o')}</w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="6"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
  const item = (text: string, at: number, list = 5) =>
    paragraph(text, `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`)
  const parts = { 'word/styles.xml': styles, 'word/numbering.xml': numbering }
  const relations: [string, string, string][] = [
    ['a', 'styles', 'styles.xml'],
    ['b', 'numbering', 'numbering.xml'],
  ]

  test('headings are told by their styles, also by those that a style is based on', async () => {
    const { passages, title } = await read(
      docx(
        paragraph('Yard', '<w:pStyle w:val="Mine"/>') +
          paragraph('Gates', '<w:pStyle w:val="Out"/>') +
          paragraph('They open at six.'),
        { parts, relations },
      ),
    )
    assert.equal(title, 'Yard')
    assert.deepEqual(passages, [{ text: '# Yard\n\n## Gates\n\nThey open at six.', heading: 'Yard › Gates', page: null }])
  })

  // Headings of ever deeper levels would all stand above what follows, and each passage says the headings above it.
  test('a level that Word does not have is none', async () => {
    const levels = ['-0.9', '-0.5', '0.5', '1e1', 'x', '']
    const headings = levels.map((at) => paragraph(`Level ${at}`, `<w:outlineLvl w:val="${at}"/>`)).join('')
    assert.deepEqual(
      (await read(docx(headings))).passages.map(({ heading }) => heading),
      [''],
    )
    const styles = levels.map((at, n) => `<w:style w:styleId="${n}"><w:pPr><w:outlineLvl w:val="${at}"/></w:pPr></w:style>`)
    const styled = levels.map((at, n) => paragraph(`Level ${at}`, `<w:pStyle w:val="${n}"/>`)).join('')
    const { passages } = await read(
      docx(styled, {
        parts: { 'word/styles.xml': `<w:styles>${styles.join('')}</w:styles>` },
        relations: [['a', 'styles', 'styles.xml']],
      }),
    )
    assert.deepEqual(
      passages.map(({ heading }) => heading),
      [''],
    )
    const items = ['-1', '0.5', '1e8'].map((at) =>
      paragraph(`Item ${at}`, `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="6"/></w:numPr>`),
    )
    assert.equal(await textOf(docx(items.join(''), { parts, relations })), '- Item -1\n- Item 0.5\n- Item 1e8')
  })

  test('lists have the numbers that Word shows', async () => {
    const body =
      item('Terms', 0) +
      item('Payment', 1) +
      item('Notice', 1) +
      item('In writing', 2) +
      item('By hand', 2) +
      item('End', 0) +
      item('Last', 1) +
      item('A point', 0, 6)
    assert.equal(
      await textOf(docx(body, { parts, relations })),
      '1. Terms\n  1.1 Payment\n  1.2 Notice\n    (i) In writing\n    (ii) By hand\n2. End\n  2.1 Last\n- A point',
    )
  })

  test('tables keep their cells apart; what was deleted, and second forms of the same, are not there', async () => {
    const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`
    const table = `<w:tbl><w:tr>${cell('Lamp')}${cell('Watts')}</w:tr><w:tr>${cell('red')}${cell('5')}</w:tr></w:tbl>`
    const deleted =
      '<w:p><w:del><w:r><w:delText>old</w:delText><w:t>gone</w:t></w:r></w:del><mc:AlternateContent><mc:Choice><w:r><w:t>shown</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>again</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>'
    assert.equal(await textOf(docx(table + deleted)), 'Lamp | Watts\nred | 5\n\nshown')
  })

  test('footnotes follow the text, and the properties name the title', async () => {
    const notes = `<w:footnotes><w:footnote>${paragraph('A note below.')}</w:footnote></w:footnotes>`
    const { passages, title } = await read(
      docx(paragraph('Text.'), {
        parts: { 'word/footnotes.xml': notes },
        relations: [['f', 'footnotes', 'footnotes.xml']],
        title: 'The &amp; title',
      }),
    )
    assert.equal(passages[0]!.text, 'Text.\n\nA note below.')
    assert.equal(title, 'The & title')
  })
})

describe('Excel', () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;EUR&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/></cellXfs></styleSheet>'
  const strings =
    '<sst><si><t>Item</t></si><si><r><t>Sold </t></r><r><t>on</t></r></si><si><t>Price</t></si><si><t>Share</t><rPh><t>reading</t></rPh></si><si><t>Lamp</t></si></sst>'
  const head = `<row>${['A', 'B', 'C', 'D'].map((column, i) => `<c r="${column}1" t="s"><v>${i}</v></c>`).join('')}</row>`
  const parts = { 'xl/styles.xml': styles, 'xl/sharedStrings.xml': strings }

  test('every row tells the names of its columns, and dates and numbers as they are shown', async () => {
    const row =
      '<row><c r="A2" t="s"><v>4</v></c><c r="B2" s="1"><v>45292</v></c><c r="C2" s="2"><v>1234.5</v></c><c r="D2" s="3"><v>0.25</v></c></row>'
    const { passages } = await read(xlsx([['Sales', head + row]], parts))
    assert.deepEqual(passages, [
      { text: '## Sales\n\nItem: Lamp | Sold on: 2024-01-01 | Price: 1,234.50 EUR | Share: 25.00%', heading: 'Sales', page: 1 },
    ])
  })

  test('dates count from 1904 where the workbook says so', async () => {
    const row = '<row><c r="A2" t="s"><v>4</v></c><c r="B2" s="1"><v>43830</v></c></row>'
    assert.match(await textOf(xlsx([['S', head + row]], parts, '<workbookPr date1904="1"/>')), /Sold on: 2024-01-01/)
  })

  test('hidden sheets are left out, inline text and empty cells are understood', async () => {
    const row = (n: number, ...cells: [string, string][]) =>
      `<row>${cells.map(([at, text]) => `<c r="${at}${n}" t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
    const rows = row(1, ['A', 'Name'], ['B', 'Town'], ['C', 'Phone']) + row(2, ['A', 'Ada'], ['C', '5'])
    const text = await textOf(
      xlsx([
        ['Shown', rows],
        ['Secret', rows, 'hidden'],
      ]),
    )
    assert.equal(text, '## Shown\n\nName: Ada | Phone: 5')
  })

  test('a cell far away makes no room of its own', async () => {
    assert.equal(await textOf(xlsx([['S', '<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>']])), '## S\n\n1 | 2')
  })

  test('read a sheet once, however often the workbook names it', async () => {
    const twice = 'Sales" sheetId="9" r:id="s0"/><sheet name="Again'
    assert.equal(await textOf(xlsx([[twice, '<row><c r="A1"><v>1</v></c></row>']])), '## Sales\n\n1')
  })
})

describe('PowerPoint', () => {
  test('slides come in the order in which they are shown, with titles, tables and notes, each on its page', async () => {
    const table =
      '<a:tbl><a:tr><a:tc><a:p><a:r><a:t>Lamp</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>5</a:t></a:r></a:p></a:tc></a:tr></a:tbl>'
    const filler = 'Words that fill the slide. '.repeat(10).trim()
    const { passages } = await read(
      pptx([
        { shapes: shape('First', 'ctrTitle') + shape(filler) + shape('7', 'sldNum') },
        { shapes: shape('Second', 'title') + table, notes: shape('Say it slowly.', 'body') },
      ]),
    )
    assert.deepEqual(passages, [
      { text: `## First\n\n${filler}`, heading: 'First', page: 1 },
      { text: '## Second\n\nLamp | 5\n\nSay it slowly.', heading: 'Second', page: 2 },
    ])
  })
})

describe('CSV', () => {
  for (const [about, csv] of [
    ['commas', 'Name,Town,Note\nAda,London,"first, ""second"""\n'],
    ['semicolons', 'Name;Town;Note\nAda;London;"first, ""second"""\n'],
    ['tabs', 'Name\tTown\tNote\nAda\tLondon\t"first, ""second"""\n'],
    ['a first line that says so', 'sep=|\nName|Town|Note\nAda|London|"first, ""second"""\n'],
  ] as const)
    test(`rows with ${about} tell the names of their columns`, async () => {
      assert.equal(await textOf(Buffer.from(csv), 'x.csv'), 'Name: Ada | Town: London | Note: first, "second"')
    })

  test('without names the rows are told as they are; ragged ones too', async () => {
    assert.equal(await textOf(Buffer.from('1,2\n3,4,5\n\n6\n'), 'x.csv'), '1 | 2\n3 | 4 | 5\n6')
    assert.equal(await textOf(Buffer.from('__proto__,b\nx,y,z\n'), 'x.csv'), '__proto__: x | b: y | z')
  })
})

describe('JSON', () => {
  test('every value is told with the name of its field', async () => {
    const value = { title: 'Lamps', list: [{ name: 'red', watts: 5, tags: ['a', 'b'], none: null }, { name: 'green' }], on: true }
    const { title, passages } = await read(Buffer.from(JSON.stringify(value)), 'x.json')
    assert.equal(title, 'Lamps')
    assert.equal(passages[0]!.text, 'title: Lamps\nlist:\n  name: red\n  watts: 5\n  tags: a, b\n  name: green\non: true')
  })

  test('a number is told as it was written', async () => {
    const json = '{"order":12345678901234567890,"price":1e999,"share":0.12345678901234567890,"year":2026,"half":0.5}'
    const text = 'order: 12345678901234567890\nprice: 1e999\nshare: 0.12345678901234567890\nyear: 2026\nhalf: 0.5'
    assert.equal(await textOf(Buffer.from(json), 'x.json'), text)
    assert.equal(await textOf(Buffer.from(`${json}\n${json}`), 'x.jsonl'), `${text}\n\n${text}`)
  })

  test('a value a line is read too; what is neither is refused, and so is endless nesting', async () => {
    assert.equal(await textOf(Buffer.from('{"a":1}\n{"a":2}\n'), 'x.jsonl'), 'a: 1\n\na: 2')
    await refuses(read(Buffer.from('{"a":'), 'x.json'), 'damaged')
    await refuses(read(Buffer.from('['.repeat(50_000) + ']'.repeat(50_000)), 'x.json'), 'too_large')
  })
})

describe('Office files made to break programs', () => {
  const deep = (n: number) => `${'<w:sdt>'.repeat(n)}${'</w:sdt>'.repeat(n)}`
  for (const [about, file, code] of [
    ['unpacks to 80 MB from 80 kB', docx(Buffer.alloc(80_000_000, 32).toString('latin1')), 'too_large'],
    [
      'unpacks to too much in parts that are not too large',
      pptx(Array(3).fill({ shapes: `<p:pic descr="${' '.repeat(50_000_000)}"/>` })),
      'too_large',
    ],
    ['is nested without end', docx(deep(5_000)), 'too_large'],
    [
      'has too many parts',
      docx('', { parts: Object.fromEntries(Array.from({ length: 5_100 }, (_, i) => [`word/${i}`, ''])) }),
      'too_large',
    ],
    ['declares entities', zip({ 'word/document.xml': '<!DOCTYPE x [<!ENTITY a "b">]><w:document>&a;</w:document>' }), 'damaged'],
    ['has no text part', zip({ 'word/other.xml': '' }), 'damaged'],
    ['is cut off', docx(paragraph('x')).subarray(0, 200), 'damaged'],
    ['is protected by a password', zip({ 'word/document.xml': '<w:document/>' }, { encrypted: true }), 'encrypted'],
  ] as const)
    test(`one that ${about} is refused with the reason`, () => refuses(read(file), code))
})

describe('the process that reads', () => {
  const readers: DocumentReader[] = []
  const newReader = (limits: { timeoutMs: number; memoryMb: number }, forSlow?: DocumentReader) => {
    const reader = new DocumentReader(limits, forSlow)
    readers.push(reader)
    return reader
  }
  after(() => {
    for (const reader of readers) reader.close()
  })
  const text = (content: string) => ({ content: new Uint8Array(Buffer.from(content)), mediaType: 'text/plain' })
  /** Has a new reader read a first document, and returns the process that did. */
  const processOf = async (reader: DocumentReader): Promise<ChildProcess> => {
    const started: ChildProcess[] = []
    const note = (message: unknown) => started.push((message as { process: ChildProcess }).process)
    subscribe('child_process', note)
    await reader.read('document', text('Warm.'))
    unsubscribe('child_process', note)
    return started[0]!
  }
  /** 400 MB of spaces drawn on a page, packed twice. */
  const bomb = () => {
    const packed = deflateSync(deflateSync(Buffer.alloc(400_000_000, 32))).toString('latin1')
    return assemble([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
      stream(packed, ' /Filter [/FlateDecode /FlateDecode]'),
    ])
  }
  /** Forms that draw forms that draw forms: ten to the ninth. */
  const maze = () => {
    const resources = (i: number) =>
      `/Font << /T << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /F ${6 + i} 0 R >>`
    const forms = Array.from({ length: 10 }, (_, i) =>
      stream(
        i === 9 ? 'BT /T 9 Tf (x) Tj ET' : '/F Do '.repeat(10),
        ` /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources(i)} >>`,
      ),
    )
    return assemble([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>',
      stream('/F Do'),
      ...forms,
    ])
  }

  test('is killed by a document that takes too much memory, and the next one is read', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 250 })
    const [first, second] = [
      reader.read('document', { content: new Uint8Array(bomb()), mediaType: '' }),
      reader.read('document', text('A walnut.')),
    ]
    await assert.rejects(
      first,
      (error) => error instanceof DocumentError && error.code === 'too_costly' && /250 MB/.test(error.message),
    )
    assert.equal((await second).passages[0]!.text, 'A walnut.')
  })

  test('is killed by a document that takes too long, and the next one is read', async () => {
    const reader = newReader({ timeoutMs: 5_000, memoryMb: 4_096 })
    await reader.read('document', text('Warm.'))
    const [first, second] = [
      reader.read('document', { content: new Uint8Array(maze()), mediaType: '' }),
      reader.read('document', text('A walnut.')),
    ]
    await assert.rejects(
      first,
      (error) => error instanceof DocumentError && error.code === 'too_costly' && /more than 5 seconds/.test(error.message),
    )
    assert.equal((await second).passages[0]!.text, 'A walnut.')
  })

  test('of small texts is another than that of other documents', async () => {
    const readers = new DocumentReaders()
    const asked: ChildProcess[] = []
    const note = (message: unknown) => asked.push((message as { process: ChildProcess }).process)
    subscribe('child_process', note)
    const hard = readers.read('document', { content: new Uint8Array(maze()), mediaType: '' }, 'one').catch(() => {})
    await readers.read('document', text('A walnut.'), 'other')
    unsubscribe('child_process', note)
    assert.equal(asked.length, 2)
    assert.ok(asked.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null))
    readers.close()
    await hard
  })

  test('says when it has loaded what a kind is read with, from when its time counts', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const onePage = (line: string) => pdf([[{ text: line, y: 700 }]])
    const said: string[] = []
    const process = await processOf(reader)
    process.on('message', (answer: object) => said.push(...Object.keys(answer).filter((what) => what !== 'cpuMs')))
    for (const content of [onePage('A walnut.'), onePage('A hazel.'), docx(paragraph('An oak.')), Buffer.from('An ash.')])
      await reader.read('document', { content: new Uint8Array(content), mediaType: 'text/plain' })
    assert.deepEqual(said, ['ready', 'result', 'result', 'ready', 'result', 'result'])
  })

  test('is replaced by one that was started before, from the second slow document on', async () => {
    const limits = { timeoutMs: 600_000, memoryMb: 4_096 }
    const reader = newReader(limits, newReader(limits))
    const readers: ChildProcess[] = []
    const note = (message: unknown) => {
      const { process } = message as { process: ChildProcess }
      process.on('message', (answer: object) => 'result' in answer && readers.push(process))
    }
    subscribe('child_process', note)
    await reader.read('document', text('Warm.'))
    const left: Promise<void>[] = []
    for (const owner of ['one', 'two']) {
      const hard = reader.read('document', { content: new Uint8Array(maze()), mediaType: '' }, owner)
      left.push(assert.rejects(hard, { name: 'ReaderClosed' }))
      await reader.read('document', text('A walnut.'), 'other')
    }
    unsubscribe('child_process', note)
    assert.deepEqual(
      readers.map(({ spawnargs }) => spawnargs.includes('warm')),
      [false, false, true],
    )
    assert.equal(new Set(readers).size, 3)
    reader.close()
    await Promise.all(left)
  })

  test('leaves a document that is no longer wanted, under way or before', async () => {
    const reader = newReader({ timeoutMs: 600_000, memoryMb: 4_096 })
    await reader.read('document', text('Warm.'))
    let isWanted = true
    const hard = () => reader.read('document', { content: new Uint8Array(maze()), mediaType: '' }, 'one', () => isWanted)
    const left = Promise.all([hard(), hard()].map((reading) => assert.rejects(reading, { name: 'ReaderClosed' })))
    const next = reader.read('document', { content: new Uint8Array(docx(paragraph('A walnut.'))), mediaType: '' }, 'other')
    isWanted = false
    await left
    assert.equal((await next).passages[0]!.text, 'A walnut.')
  })

  test('reads documents that take very long apart from those that take long', async () => {
    const limits = { timeoutMs: 600_000, memoryMb: 4_096 }
    const apart = newReader(limits)
    const forSlow = new DocumentReader(limits, apart, 1_500)
    readers.push(forSlow)
    const reader = newReader(limits, forSlow)
    await Promise.all([reader, forSlow].map((one) => one.read('document', text('Warm.'))))
    const hard = reader.read('document', { content: new Uint8Array(maze()), mediaType: '' }, 'hard').catch(() => {})
    assert.equal((await reader.read('document', text('A walnut.'), 'other')).passages[0]!.text, 'A walnut.')
    assert.equal((await forSlow.read('document', text('A hazel.'), 'other')).passages[0]!.text, 'A hazel.')
    for (const one of [reader, forSlow, apart]) one.close()
    await hard
  })

  test('blames no document for another that is sent with it', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 250 })
    const walnuts = (from: number) => Array.from({ length: 40 }, (_, i) => reader.read('document', text(`Walnut ${from + i}.`)))
    const before = walnuts(0)
    const bad = assert.rejects(reader.read('document', { content: new Uint8Array(bomb()), mediaType: '' }), {
      code: 'too_costly',
    })
    const after = walnuts(40)
    const texts = (await Promise.all([...before, ...after])).map(({ passages }) => passages[0]!.text)
    assert.deepEqual(
      texts,
      Array.from({ length: 80 }, (_, i) => `Walnut ${i}.`),
    )
    await bad
  })

  test('blames no document when the process ends that has read others before', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const started = await processOf(reader)
    started.kill('SIGSTOP')
    const next = reader.read('document', text('A walnut.'))
    // As one that is out of memory, it ends by itself and does not answer.
    started.disconnect()
    started.kill('SIGCONT')
    assert.equal((await next).passages[0]!.text, 'A walnut.')
  })

  test('lets owners take turns', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const ended: string[] = []
    // Too large to be sent ahead.
    const large = (word: string) => ({ content: new Uint8Array(Buffer.alloc(1_200_000, `${word} `)), mediaType: 'text/plain' })
    const read = (owner: string) => reader.read('document', large(owner), owner).then(() => ended.push(owner))
    await Promise.all([...Array.from({ length: 7 }, () => read('many')), read('one')])
    assert.ok(ended.indexOf('one') <= 3, ended.join())
  })

  test('reads a small text before the large documents of many owners', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const ended: string[] = []
    const read = (owner: string, content: Buffer) =>
      reader.read('document', { content: new Uint8Array(content), mediaType: 'text/plain' }, owner).then(() => ended.push(owner))
    const large = Array.from({ length: 6 }, (_, i) => read(`large${i}`, Buffer.alloc(300_000, 'words ')))
    await Promise.all([...large, read('small', Buffer.from('A note.'))])
    assert.ok(ended.indexOf('small') <= 2, ended.join())
  })

  test('of two owners, reads next for the one that had less time lately', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const ended: string[] = []
    const read = (owner: string, chars: number) =>
      reader
        .read('document', { content: new Uint8Array(Buffer.alloc(chars, 'words ')), mediaType: 'text/plain' }, owner)
        .then(() => ended.push(owner))
    await read('busy', 4_000_000)
    const waiting = [read('first', 4_000_000), read('busy', 100_000), read('busy', 100_000), read('new', 100_000)]
    await Promise.all(waiting)
    assert.deepEqual(ended.slice(2, 3), ['new'])
  })

  test('reads a slow document elsewhere while others wait', async () => {
    const limits = { timeoutMs: 300_000, memoryMb: 512 }
    const reader = newReader(limits, newReader(limits))
    const started: ChildProcess[] = []
    const note = (message: unknown) => started.push((message as { process: ChildProcess }).process)
    subscribe('child_process', note)
    await reader.read('document', text('Warm.'))
    // It does not answer any more.
    started[0]!.kill('SIGSTOP')
    const ended: string[] = []
    const read = (what: string) => reader.read('document', text(what), what).then(() => ended.push(what))
    const slow = read('slow')
    await Promise.all([read('one'), read('two')])
    await slow
    unsubscribe('child_process', note)
    // More where a process takes long to start: then the next document moves, too.
    assert.ok(started.length >= 3, 'another process for each of the two')
    assert.deepEqual(ended.toSorted(), ['one', 'slow', 'two'])
  })

  test('reads the documents of an owner elsewhere from the beginning, once two held up those of others', async () => {
    const limits = { timeoutMs: 300_000, memoryMb: 512 }
    const reader = newReader(limits, newReader(limits))
    const started: ChildProcess[] = []
    const note = (message: unknown) => started.push((message as { process: ChildProcess }).process)
    subscribe('child_process', note)
    /** Has the process of the first reader answer no more. */
    const stopFirst = async () => {
      await reader.read('document', text('Warm.'))
      started.at(-1)!.kill('SIGSTOP')
    }
    for (const word of ['first', 'second']) {
      await stopFirst()
      const slow = reader.read('document', text(word), 'slow')
      await Promise.all([slow, reader.read('document', text('A walnut.'), 'other')])
    }
    await stopFirst()
    unsubscribe('child_process', note)
    assert.equal((await reader.read('document', text('third'), 'slow')).passages[0]!.text, 'third')
  })

  test('takes an owner as any other when its slow documents are ten minutes old', () => {
    const owners = new SlowOwners()
    owners.note('slow', 0)
    owners.note('other', 1_000)
    assert.equal(owners.has('slow', 1_000), false)
    owners.note('slow', 2_000)
    assert.deepEqual([owners.has('slow', 599_999), owners.has('other', 599_999)], [true, false])
    assert.equal(owners.has('slow', 600_001), false)
  })

  test('takes a key as slow whose agents had many slow documents together', () => {
    const owners = new SlowOwners()
    for (let i = 0; i < 5; i++) owners.note(`k/${i}`, i)
    assert.deepEqual([owners.has('k/0', 10), owners.has('k/new', 10)], [false, false])
    owners.note('k/5', 10)
    assert.deepEqual([owners.has('k/0', 10), owners.has('k/new', 10), owners.has('l/new', 10)], [true, true, false])
    assert.equal(owners.has('k/new', 600_001), false)
  })

  test('may be killed by somebody else: each document is read', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    const started = await processOf(reader)
    const texts = Array.from({ length: 60 }, (_, i) => `Walnut ${i}.`)
    const reads = texts.map((one) => reader.read('document', text(one)))
    started.kill('SIGKILL')
    assert.deepEqual(
      (await Promise.all(reads)).map(({ passages }) => passages[0]!.text),
      texts,
    )
  })

  test('tells what a document is refused for, and stops when it is closed', async () => {
    const reader = newReader({ timeoutMs: 300_000, memoryMb: 512 })
    await refuses(reader.read('document', text(' ')), 'blank')
    const under = reader.read('document', text('x'))
    reader.close()
    await assert.rejects(under, { name: 'ReaderClosed' })
    await assert.rejects(reader.read('document', text('x')), { name: 'ReaderClosed' })
  })
})

describe('addresses', () => {
  const of = (chars: number, i = 0) => `https://example.com/${i}/`.padEnd(chars, 'x')

  test('of more than 2,048 characters are no links and no pages of a sitemap', () => {
    const all = [of(30), of(2_048), of(2_049), of(3_000_000)]
    const expected = [of(30), of(2_048)]
    assert.deepEqual(readLinks(all.map((href) => `<a href="${href}">a</a>`).join(''), of(30)).links, expected)
    const urls = all.map((loc) => `<url><loc>${loc}</loc></url>`).join('')
    assert.deepEqual(readSitemap(`<urlset>${urls}</urlset>`).pages, expected)
    assert.deepEqual(readSitemap(all.join('\n')).pages, expected)
  })

  test('of a page and of a sitemap are bounded together, and each counts once', () => {
    const many = Array.from({ length: 4_000 }, (_, i) => of(2_000, i >> 1))
    const chars = (found: readonly string[]) => found.join('').length
    assert.equal(chars(readLinks(many.map((href) => `<a href="${href}">a</a>`).join(''), of(30)).links), 500_000)
    assert.equal(readSitemap(many.join('\n')).pages.length, 2_000)
    assert.equal(chars(readSitemap(Array.from({ length: 4_000 }, (_, i) => of(2_000, i)).join('\n')).pages), 5_000_000)
  })
})

test('a sitemap is complete if nothing else is in it, and it goes to its end', () => {
  const complete = [
    '<?xml version="1.0"?><!-- a --><sm:urlset xmlns:sm="x"><sm:url><loc>https://a.test/</loc></sm:url></sm:urlset>\n',
    '<sitemapindex><sitemap><loc>https://a.test/</loc></sitemap></sitemapindex>',
    'https://a.test/1\n\n  https://a.test/2\r\n',
  ]
  const others = [
    '<urlset><url><loc>https://a.test/</loc></url>',
    '<sitemapindex><sitemap><loc>https://a.test/</loc></sitemap></sitemapind',
    '<html><body><url><loc>https://a.test/</loc></url></body></html>',
    '<?xml version="1.0"?>',
    'Down for maintenance.\nhttps://status.test/',
  ]
  assert.deepEqual(
    [...complete, ...others].map((text) => readSitemap(text).isComplete),
    [...complete.map(() => true), ...others.map(() => false)],
  )
})

describe('elements in elements without end', () => {
  const nested = (tag: string) => `<${tag}>`.repeat(100_000)

  test('are no sitemap', () => {
    assert.throws(() => readSitemap(`<urlset>${nested('url')}`), { code: 'damaged' })
  })

  test('hide links, but only those within', () => {
    const { links } = readLinks(`<a href="/a">a</a>${nested('div')}<a href="/b">b</a>`, 'https://example.com/')
    assert.deepEqual(links, ['https://example.com/a'])
  })
})
