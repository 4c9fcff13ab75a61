import { KnowledgeFile } from '../../store/knowledge-file.ts'
import { buryStaged } from '../../store/knowledge-index.ts'
import { fileOf } from '../files.ts'

/** Files kept open for writing. */
const OPEN_FILES = 16
/** Deleted text stays in the write-ahead log until that is folded into the file; a burst of deletes shares one pass. */
const SCRUB_AFTER_MS = 200

/** The knowledge files that are open for writing: those used last. */
export class OpenFiles {
  readonly #folder: string
  readonly #isBusy: (agentId: string) => boolean
  readonly #files = new Map<string, KnowledgeFile>()
  /** Those from which something was deleted. */
  readonly #unscrubbed = new Set<string>()
  #scrubTimer: NodeJS.Timeout | undefined

  /** `isBusy`: this agent's file stays open. */
  constructor(folder: string, isBusy: (agentId: string) => boolean) {
    this.#folder = folder
    this.#isBusy = isBusy
  }

  open(agentId: string): KnowledgeFile {
    let file = this.#files.get(agentId)
    if (file === undefined) {
      file = KnowledgeFile.openToWrite(fileOf(this.#folder, agentId))
      const opened = file
      opened.write(() => buryStaged(opened))
      for (const idle of this.#files.keys()) {
        if (this.#files.size < OPEN_FILES) break
        if (!this.#isBusy(idle) && !this.#unscrubbed.has(idle)) this.#close(idle)
      }
    } else this.#files.delete(agentId)
    this.#files.set(agentId, file)
    return file
  }

  /** Undefined where it is not open. */
  get(agentId: string): KnowledgeFile | undefined {
    return this.#files.get(agentId)
  }

  /** Text was deleted from this agent's file, and must be gone from the disk, too. */
  scrubLater(agentId: string): void {
    this.#unscrubbed.add(agentId)
  }

  /** The deletions of this agent are over for now. */
  scrub(agentId: string): void {
    if (this.#unscrubbed.has(agentId)) this.#scrubSoon()
  }

  /** Deletes the agent's file from the disk. */
  remove(agentId: string): void {
    this.#unscrubbed.delete(agentId)
    this.#close(agentId)
    KnowledgeFile.remove(fileOf(this.#folder, agentId))
  }

  close(): void {
    clearTimeout(this.#scrubTimer)
    for (const [agentId, file] of this.#files) {
      file.scrub()
      this.#close(agentId)
    }
  }

  #close(agentId: string): void {
    this.#files.get(agentId)?.close()
    this.#files.delete(agentId)
  }

  #scrubSoon(): void {
    this.#scrubTimer ??= setTimeout(() => {
      this.#scrubTimer = undefined
      for (const agentId of this.#unscrubbed) {
        const file = this.#files.get(agentId)
        if (file === undefined || file.scrub()) this.#unscrubbed.delete(agentId)
      }
      if (this.#unscrubbed.size > 0) this.#scrubSoon()
    }, SCRUB_AFTER_MS)
  }
}
