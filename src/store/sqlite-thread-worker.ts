import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Statement, Value } from './database.ts'
import { SqliteConnection, WRITER_PRAGMAS } from './sqlite-connection.ts'
import type { Answer, Request, SentError, SentWork } from './sqlite-thread.ts'

const db = new DatabaseSync(workerData as string)
db.exec(`${WRITER_PRAGMAS} PRAGMA busy_timeout = 0`)
const connection = new SqliteConnection(db)
const known: string[] = []

const toWork = ({ guarded, steps }: SentWork) => {
  const statements: Statement[] = []
  for (let i = 0; i < steps.length; i += 2) statements.push({ sql: known[steps[i] as number]!, params: steps[i + 1] as Value[] })
  return { guarded, statements }
}

const toSent = (error: unknown): SentError => {
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
  return { message, code, errcode }
}

function answer({ texts, works }: Request): Answer {
  known.push(...texts)
  const outcomes = connection.write(works.map(toWork))
  return outcomes.map((outcome) => ('error' in outcome ? { failed: toSent(outcome.error) } : outcome))
}

function checkpoint(): Answer {
  try {
    return connection.checkpoint()
  } catch (error) {
    return { failed: toSent(error) }
  }
}

parentPort!.on('message', (request: Request | 'checkpoint') => {
  parentPort!.postMessage(request === 'checkpoint' ? checkpoint() : answer(request))
})
parentPort!.postMessage('ready')
