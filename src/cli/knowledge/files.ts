import { closeSync, type Dirent, openSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, extname, join, posix, resolve, sep } from 'node:path'
import { CommandError } from '../command.ts'
import { plainPath } from '../show.ts'

/** The file types taken from a folder. A file given directly is sent regardless of its type, because the service decides what it can read. */
const KINDS = new Set(
  '.md .markdown .mdx .html .htm .xhtml .txt .text .pdf .docx .xlsx .pptx .csv .tsv .json .jsonl .ndjson'.split(' '),
)

export interface Skipped {
  path: string
  /** Completes "skipped because it is …". */
  reason: string
}

export interface FoundFile {
  /** As the user would type it. */
  path: string
  /** The path relative to the given folder, with `/`, or the file name of a file given directly. */
  name: string
}

export interface FoundFiles {
  /** Without duplicates. */
  files: FoundFile[]
  skipped: Skipped[]
}

/** Returns the documents in the given files and folders, sorted by name. Throws `CommandError` if one does not exist. */
export function findFiles(given: string[]): FoundFiles {
  const found: FoundFiles = { files: [], skipped: [] }
  for (const path of given) {
    const stats = statOf(path)
    if (stats === undefined) throw new CommandError(`There is no file or folder ${path}, or you may not read it.`)
    if (stats.isDirectory()) walk({ path, name: '' }, realpathSync(path) + sep, found)
    else found.files.push({ path, name: basename(path) })
  }
  const unique = new Map(found.files.map((file) => [resolve(file.path), file]))
  return { files: [...unique.values()], skipped: found.skipped }
}

/** Skips links that lead out of `root`. With such a link, anyone with write access to the folder could have any file of the machine uploaded. */
function walk(folder: FoundFile, root: string, found: FoundFiles): void {
  const skip = (path: string, reason: string) => found.skipped.push({ path, reason })
  let entries: Dirent[]
  try {
    entries = readdirSync(folder.path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    skip(folder.path, 'not readable')
    return
  }
  for (const entry of entries) {
    const path = join(folder.path, entry.name)
    const name = posix.join(folder.name, entry.name)
    if (entry.name.startsWith('.')) skip(path, 'hidden')
    else if (entry.name === 'node_modules') skip(path, 'node_modules')
    else if (entry.isDirectory()) walk({ path, name }, root, found)
    else if (entry.isSymbolicLink() && !leadsInto(root, path)) skip(path, 'a link that leads out of the folder')
    else lookAtFile({ path, name }, found, skip)
  }
}

function lookAtFile(file: FoundFile, found: FoundFiles, skip: (path: string, reason: string) => void): void {
  const { path } = file
  const kind = extname(path).toLowerCase()
  const stats = statOf(path)
  if (stats === undefined) skip(path, 'not readable')
  else if (stats.isDirectory())
    skip(path, 'a link to a folder') // following it could lead to a cycle
  else if (!stats.isFile()) skip(path, 'not a file')
  else if (!KINDS.has(kind)) skip(path, `of another kind (${kind === '' ? basename(path) : kind})`)
  else if (stats.size === 0) skip(path, 'empty')
  else if (!isReadable(path)) skip(path, 'not readable')
  else found.files.push(file)
}

/** Returns true if the link leads into `root`. Also true for a broken link, which is then reported as unreadable. */
function leadsInto(root: string, link: string): boolean {
  try {
    return (realpathSync(link) + sep).startsWith(root)
  } catch {
    return true
  }
}

function isReadable(path: string): boolean {
  try {
    closeSync(openSync(path, 'r'))
    return true
  } catch {
    return false
  }
}

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** Returns `Skipped 7: 3 hidden, 2 of another kind (.png), …`. Undefined if no file was skipped. */
export function describeSkipped(skipped: Skipped[]): string | undefined {
  if (skipped.length === 0) return undefined
  const counts = Object.entries(Object.groupBy(skipped, ({ reason }) => reason)).map(([reason, all]) => ({
    reason,
    count: all!.length,
  }))
  const parts = counts.sort((a, b) => b.count - a.count).map(({ reason, count }) => `${count} ${plainPath(reason)}`)
  return `Skipped ${skipped.length}: ${parts.join(', ')}.`
}
