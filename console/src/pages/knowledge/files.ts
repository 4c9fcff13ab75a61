import type { DirectoryDropItem, DropItem, FileDropItem } from 'react-aria-components'

/** Extensions that are taken from a folder. A file that is selected directly is always sent: the service knows best what it can read. */
const KINDS = new Set('md markdown mdx html htm xhtml txt text pdf docx xlsx pptx csv tsv json jsonl ndjson'.split(' '))

export interface FoundFile {
  file: File
  /** Path relative to the dropped item. */
  path: string
}

export interface Found {
  files: FoundFile[]
  /** Files in folders that were left out: hidden, `node_modules`, of an unsupported type, or empty. */
  skipped: number
  /** Dropped or pasted text. */
  text: string
}

/** Returns the dropped or pasted files, including files in folders, in the order of their names. */
export async function filesOf(items: Iterable<DropItem>): Promise<Found> {
  const found: Found = { files: [], skipped: 0, text: '' }
  for (const item of items) {
    if (item.kind === 'file') found.files.push({ file: await item.getFile(), path: item.name })
    else if (item.kind === 'directory') await walk(item, item.name, found)
    else if (item.types.has('text/plain')) found.text += await item.getText('text/plain')
  }
  return found
}

async function walk(folder: DirectoryDropItem, path: string, found: Found): Promise<void> {
  const entries: (FileDropItem | DirectoryDropItem)[] = []
  for await (const entry of folder.getEntries()) entries.push(entry)
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    if (isHidden(entry.name)) found.skipped++
    else if (entry.kind === 'directory') await walk(entry, `${path}/${entry.name}`, found)
    else take(await entry.getFile(), `${path}/${entry.name}`, found)
  }
}

/** Returns the files of a folder picker, which lists all subfolders. */
export function filesOfFolder(list: FileList): Found {
  const found: Found = { files: [], skipped: 0, text: '' }
  for (const file of list) {
    const path = file.webkitRelativePath || file.name
    if (path.split('/').slice(1).some(isHidden)) found.skipped++
    else take(file, path, found)
  }
  return found
}

function take(file: File, path: string, found: Found): void {
  const kind = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase()
  if (kind !== undefined && KINDS.has(kind) && file.size > 0) found.files.push({ file, path })
  else found.skipped++
}

const isHidden = (name: string) => name.startsWith('.') || name === 'node_modules'
