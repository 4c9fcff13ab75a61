import { Parser } from 'htmlparser2'
import type { Entry, ZipFile } from 'yauzl'
import { DocumentError } from '../../../../core/document-error.ts'

/** Handles the elements of a part of an Office file. Names have no prefixes. */
export interface PartHandler {
  open?: (name: string, attributes: XmlAttributes) => void
  close?: (name: string) => void
  text?: (text: string) => void
}
export type XmlAttributes = Record<string, string>

/** A part that another part refers to. */
export interface Relation {
  /** The last word of its type, e.g. `footnotes`. */
  type: string
  target: string
}

// A normal document stays far below each limit. Sizes are counted while unpacking, because the sizes in the file are not trusted.
const MAX_ENTRIES = 5_000
const MAX_PART_BYTES = 67_108_864
const MAX_TOTAL_BYTES = 134_217_728
const MAX_DEPTH = 256
const MAX_ELEMENTS = 5_000_000
const MAX_CHARS = 20_000_000
const ENCRYPTED_BIT = 1

const tooLarge = (what: string) =>
  new DocumentError('too_large', `The Office file ${what}: it is too large, or made to break programs.`)
const damaged = (cause?: unknown) => new DocumentError('damaged', 'The Office file is damaged.', { cause })

/** Returns an attribute by its name without prefix. */
export function attribute(attributes: XmlAttributes, name: string): string | undefined {
  for (const prefix of ['w:', '', 'r:']) {
    const value = attributes[prefix + name]
    if (value !== undefined) return value
  }
  const key = Object.keys(attributes).find((key) => key.endsWith(`:${name}`))
  return key === undefined ? undefined : attributes[key]
}

/** A modern Office file (ECMA-376): XML parts in a ZIP archive. Writes nothing, and reads nothing outside of the file. */
export class OfficeFile {
  readonly #zip: ZipFile
  readonly #entries: Map<string, Entry>
  #bytes = 0
  #elements = 0
  #chars = 0

  private constructor(zip: ZipFile, entries: Map<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  /** Throws `DocumentError`. */
  static async open(content: Uint8Array): Promise<OfficeFile> {
    const { fromBufferPromise } = await loadZip()
    const entries = new Map<string, Entry>()
    try {
      const zip = await fromBufferPromise(Buffer.from(content.buffer, content.byteOffset, content.byteLength), {
        lazyEntries: true,
        autoClose: false,
        validateEntrySizes: true,
        // Names are only looked up, never used as paths.
        decodeStrings: true,
        strictFileNames: false,
      })
      if (zip.entryCount > MAX_ENTRIES) throw tooLarge(`has more than ${MAX_ENTRIES} parts`)
      for await (const entry of zip.eachEntry()) {
        if (entries.size >= MAX_ENTRIES) throw tooLarge(`has more than ${MAX_ENTRIES} parts`)
        if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry)
      }
      return new OfficeFile(zip, entries)
    } catch (error) {
      throw error instanceof DocumentError ? error : damaged(error)
    }
  }

  /** Parses a part with the handler. Resolves to false if there is no such part. Throws `DocumentError`. */
  async parse(part: string, handler: PartHandler): Promise<boolean> {
    const entry = this.#entries.get(part)
    if (entry === undefined) return false
    if ((entry.generalPurposeBitFlag & ENCRYPTED_BIT) !== 0)
      throw new DocumentError('encrypted', 'The Office file is protected by a password: save it without one.')
    try {
      await this.#parseEntry(entry, handler)
    } catch (error) {
      throw error instanceof DocumentError ? error : damaged(error)
    }
    return true
  }

  async #parseEntry(entry: Entry, handler: PartHandler): Promise<void> {
    if (entry.uncompressedSize > MAX_PART_BYTES) throw tooLarge('unpacks to too much')
    const stream = await this.#zip.openReadStreamPromise(entry)
    const parser = this.#parser(handler)
    let decoder: InstanceType<typeof TextDecoder> | undefined
    let bytes = 0
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length
        this.#bytes += chunk.length
        if (bytes > MAX_PART_BYTES || this.#bytes > MAX_TOTAL_BYTES) throw tooLarge('unpacks to too much')
        decoder ??= new TextDecoder(chunk[0] === 0xff ? 'utf-16le' : chunk[0] === 0xfe ? 'utf-16be' : 'utf-8')
        parser.write(decoder.decode(chunk, { stream: true }))
      }
      if (decoder !== undefined) parser.write(decoder.decode())
      parser.end()
    } finally {
      stream.destroy()
    }
  }

  #parser({ open, close, text }: PartHandler): Parser {
    let depth = 0
    return new Parser(
      {
        onopentag: (name, attributes) => {
          if (++depth > MAX_DEPTH) throw tooLarge(`is nested more than ${MAX_DEPTH} deep`)
          if (++this.#elements > MAX_ELEMENTS) throw tooLarge('has too many elements')
          open?.(localName(name), attributes)
        },
        onclosetag: (name) => {
          depth--
          close?.(localName(name))
        },
        ontext: (value) => {
          this.#chars += value.length
          if (this.#chars > MAX_CHARS) throw tooLarge('holds too much text')
          text?.(value)
        },
        // A DOCTYPE can declare custom entities. Office writes none.
        onprocessinginstruction: (name) => {
          if (name.toLowerCase() === '!doctype') throw damaged()
        },
      },
      { xmlMode: true, decodeEntities: true },
    )
  }

  /** Returns the parts that a part refers to, by id, without external ones. */
  async relations(part: string): Promise<Map<string, Relation>> {
    const found = new Map<string, Relation>()
    const at = part.lastIndexOf('/') + 1
    await this.parse(`${part.slice(0, at)}_rels/${part.slice(at)}.rels`, {
      open: (name, { Id: id, Type: type = '', Target: target, TargetMode: mode }) => {
        if (name === 'Relationship' && id !== undefined && target !== undefined && mode !== 'External')
          found.set(id, { type: type.slice(type.lastIndexOf('/') + 1), target: resolvePart(part.slice(0, at), target) })
      },
    })
    return found
  }

  /** Returns the name of the main part of the document. */
  async mainPart(usual: string): Promise<string> {
    const main = [...(await this.relations('')).values()].find(({ type }) => type === 'officeDocument')
    return main?.target ?? usual
  }

  /** Returns the title in the properties of the file, or null. */
  async title(): Promise<string | null> {
    let within = false
    let title = ''
    await this.parse('docProps/core.xml', {
      open: (name) => {
        within = name === 'title'
      },
      close: () => {
        within = false
      },
      text: (text) => {
        if (within && title.length < 1_000) title += text
      },
    })
    return title.trim() === '' ? null : title
  }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

function resolvePart(folder: string, target: string): string {
  if (target.startsWith('/')) return target.slice(1)
  const parts: string[] = []
  for (const part of (folder + target).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

async function loadZip() {
  const yauzl = await import('yauzl').catch((cause: unknown) => {
    throw new DocumentError('unsupported_type', 'Office documents cannot be read here: the package yauzl is not installed.', {
      cause,
    })
  })
  return yauzl.default
}
