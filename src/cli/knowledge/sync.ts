import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { connect, listAll, ServiceError, type ShownDocument } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { plain, plainPath, plural, printJson } from '../show.ts'
import { describeSkipped, type FoundFile, findFiles } from './files.ts'
import { Report } from './report.ts'
import { each, followDocuments, type Sending, type Undertaking, type UploadOutcome, uploadFiles } from './upload.ts'

/** The metadata that identifies a synced file in later runs. */
interface Origin {
  folder: string
  file: string
  sha256: string
}

interface Plan {
  add: Sending[]
  replace: Sending[]
  remove: ShownDocument[]
  unchanged: number
}

export const knowledgeSync: Command = {
  name: 'knowledge sync',
  usage: '<agent> <folder> [--name <name>] [--dry-run] [--empty] [--no-wait] [--json]',
  about: 'Keep what an agent knows in step with a folder: add, replace and remove documents.',
  takes: [2, 2],
  options: {
    name: { type: 'string', value: '<name>', about: 'What the folder is known as; its own name if left out.' },
    'dry-run': { type: 'boolean', about: 'Only tell what would be done.' },
    empty: { type: 'boolean', about: 'Remove everything that came from the folder, if nothing is left in it.' },
    'no-wait': { type: 'boolean', about: 'Do not wait for the indexing.' },
    ...jsonOption,
  },
  details: `Takes the same files as \`knowledge add\`. Files are known again by their path in the folder: a changed one is replaced
without a gap, an unchanged one costs nothing, and the document of one that is gone is removed. Documents that did
not come from this folder are left alone. The path stands in the metadata of each document, as \`file\`.`,
  async run(terminal, { values, positionals: [given, folder] }) {
    if (!isFolder(folder!)) throw new CommandError(`There is no folder ${folder}, or you may not read it.`)
    const name = (values.name as string | undefined) ?? basename(resolve(folder!))
    const found = findFiles([folder!])
    const signal = terminal.interruption()
    const client = connect(terminal.env)
    const { id: agentId } = await findAgent(client, given!)
    const task = { client, agentId, signal }
    const unread = found.skipped.filter(({ reason }) => reason === 'not readable').map(({ path }) => path)
    const plan = await makePlan(task, { folder: folder!, name, files: found.files, unread })
    const skipped = describeSkipped(found.skipped)
    // An empty folder is more likely a missing disk than intended.
    if (found.files.length === 0 && plan.remove.length > 0 && !values.empty)
      throw new CommandError(
        `There are no documents in ${folder}. To remove the ${plan.remove.length} that came from it, add --empty.`,
      )
    const { add, replace, remove, unchanged } = plan
    const told = `${plural(found.files.length, 'file')}: ${add.length} new, ${replace.length} changed, ${unchanged} unchanged; ${plural(remove.length, 'document')} to remove.`
    if (values['dry-run']) {
      if (values.json) printJson(terminal, toJson(plan))
      else terminal.out([told, ...toLines(plan), ...(skipped === undefined ? [] : [skipped])].join('\n'))
      return exitCodes.ok
    }
    const isQuiet = values.json === true
    if (!isQuiet) terminal.out(told)
    const sending = [...replace, ...add]
    const report = new Report(
      terminal,
      sending.map(({ path }) => path),
      isQuiet,
    )
    let hasFailed = false
    try {
      await uploadFiles(task, sending, (outcome) => report.sent(outcome))
      if (!values['no-wait']) await followDocuments(task, report.queued(), (outcome) => report.indexed(outcome))
      // Deletes last. A file may have moved within the folder, and its document must stay searchable until the new one is ready.
      const moved = await followMoved(task, sending, report.outcomes())
      const gone = remove.filter(({ id }) => !moved.has(id))
      hasFailed = await removeDocuments(task, gone, (line) => terminal.err(line))
    } catch (error) {
      if (!signal.aborted) {
        report.summarise()
        throw error
      }
    }
    if (values.json) printJson(terminal, { ...toJson(plan), files: report.outcomes(), skipped: found.skipped })
    else if (sending.length > 0) report.summarise(skipped)
    else if (skipped !== undefined) terminal.out(skipped)
    if (signal.aborted) {
      terminal.err('Stopped. Run the command again for the rest.')
      return exitCodes.interrupted
    }
    return hasFailed || report.hasFailed() ? exitCodes.failed : exitCodes.ok
  },
}

async function makePlan(
  { client, agentId }: Undertaking,
  { folder, name, files, unread }: { folder: string; name: string; files: FoundFile[]; unread: string[] },
): Promise<Plan> {
  const documents = await listAll<ShownDocument>(client, `/agents/${agentId}/documents`, 'documents')
  const known = new Map(documents.filter(({ metadata }) => metadata.folder === name).map((d) => [d.metadata.file, d]))
  const plan: Plan = { add: [], replace: [], remove: [], unchanged: 0 }
  // Files with the same name and content in several folders are one document, with the first of their paths.
  const held = new Set<string>()
  for (const { path, name: file } of files) {
    const document = known.get(file)
    known.delete(file)
    const sha256 = await hashOf(path)
    const metadata: Origin = { folder: name, file, sha256 }
    const identity = `${basename(path)}/${sha256}`
    const isHeld = held.has(identity)
    held.add(identity)
    if (document === undefined && isHeld) plan.unchanged++
    else if (document === undefined) plan.add.push({ path, name: file, metadata })
    else if (document.metadata.sha256 === sha256 && document.status !== 'failed') plan.unchanged++
    else plan.replace.push({ path, name: file, documentId: document.id, metadata: { ...document.metadata, ...metadata } })
  }
  // Files below unreadable paths may still exist, so their documents stay.
  const hidden = unread.map((path) => relative(folder, path).replaceAll(sep, '/'))
  const isHidden = (file: unknown) => hidden.some((path) => file === path || String(file).startsWith(`${path}/`))
  plan.remove.push(...known.values().filter(({ metadata }) => !isHidden(metadata.file)))
  return plan
}

/**
 * Updates the paths of moved or duplicate files, which the service stores as one document under its old path. Documents from elsewhere stay unchanged: a file's
 * deletion must not remove a person's upload or another folder's document. Resolves to the ids of all documents that are still needed.
 */
async function followMoved(
  { client, agentId, signal }: Undertaking,
  sent: readonly Sending[],
  outcomes: readonly UploadOutcome[],
): Promise<Set<string>> {
  const metadata = new Map(sent.map((file) => [file.path, file.metadata]))
  const same = outcomes.filter(({ document }) => document !== undefined)
  for (const { path, document } of same) {
    const { folder, file } = (metadata.get(path) ?? {}) as Partial<Origin>
    if (document!.metadata.folder !== folder || document!.metadata.file === file) continue
    await client.call<'updateDocument'>('PATCH', `/agents/${agentId}/documents/${document!.id}`, {
      body: { metadata: { ...document!.metadata, ...metadata.get(path) } },
      signal,
      isRepeatable: true,
    })
  }
  return new Set(same.map(({ document }) => document!.id))
}

/** Resolves to true if a document could not be removed. */
async function removeDocuments(
  { client, agentId, signal }: Undertaking,
  documents: ShownDocument[],
  tell: (line: string) => void,
): Promise<boolean> {
  let hasFailed = false
  await each(documents, signal, async ({ id, title }) => {
    try {
      await client.call<'deleteDocument'>('DELETE', `/agents/${agentId}/documents/${id}`, { signal, isRepeatable: true })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      // Another client already removed it.
      if (error.code === 'document_not_found') return
      hasFailed = true
      tell(`"${plain(title)}" could not be removed: ${error.reason}`)
    }
  })
  return hasFailed
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const toLines = ({ add, replace, remove }: Plan): string[] => [
  ...add.map(({ path }) => `new      ${plainPath(path)}`),
  ...replace.map(({ path }) => `changed  ${plainPath(path)}`),
  ...remove.map(({ metadata }) => `gone     ${plainPath(String(metadata.file))}`),
]

const toJson = ({ add, replace, remove, unchanged }: Plan) => ({
  added: add.map(({ path }) => path),
  replaced: replace.map(({ path }) => path),
  removed: remove.map(({ metadata }) => metadata.file),
  unchanged,
})

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
