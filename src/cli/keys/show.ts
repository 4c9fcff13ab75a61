import type { HttpAnswer, Key } from '../client.ts'
import type { Terminal } from '../command.ts'
import { oneLine, printJson, time } from '../show.ts'

/** Prints only the key to stdout, so that `KEY=$(repartee keys create …)` works. The description goes to stderr. */
export function printSecret(terminal: Terminal, answer: Pick<HttpAnswer<'createKey'>, 'key' | 'secret'>, asJson: boolean): void {
  if (asJson) {
    printJson(terminal, { key: answer.key, secret: answer.secret })
    return
  }
  terminal.err(`Key "${oneLine(answer.key.name, 80)}" (${describe(answer.key)}), id ${answer.key.id}. Shown this once; keep it:`)
  terminal.out(answer.secret)
}

function describe({ scopes, agentIds, expiresAt }: Key): string {
  const seen = agentIds === null ? 'all agents' : `${agentIds.length} of the agents`
  return [scopes.join(', '), seen, ...(expiresAt === null ? [] : [`until ${time(expiresAt)}`])].join('; ')
}
