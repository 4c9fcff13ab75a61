import type { Command } from './command.ts'

/** All commands in the order of the help. Each is loaded on use, so that `repartee keys generate` does not load the whole service. */
export const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  init: async () => (await import('./init/init.ts')).init,
  'agents list': async () => (await import('./agents/list.ts')).agentsList,
  'agents create': async () => (await import('./agents/create.ts')).agentsCreate,
  'agents show': async () => (await import('./agents/show.ts')).agentsShow,
  'agents delete': async () => (await import('./agents/delete.ts')).agentsDelete,
  'knowledge add': async () => (await import('./knowledge/add.ts')).knowledgeAdd,
  'knowledge sync': async () => (await import('./knowledge/sync.ts')).knowledgeSync,
  'knowledge list': async () => (await import('./knowledge/list.ts')).knowledgeList,
  'knowledge search': async () => (await import('./knowledge/search.ts')).knowledgeSearch,
  'knowledge remove': async () => (await import('./knowledge/remove.ts')).knowledgeRemove,
  eval: async () => (await import('./eval/eval.ts')).evaluate,
  'eval-export': async () => (await import('./eval/export.ts')).evalExport,
  chat: async () => (await import('./chat/chat.ts')).chat,
  'keys generate': async () => (await import('./keys/generate.ts')).keysGenerate,
  'keys create': async () => (await import('./keys/create.ts')).keysCreate,
  'keys list': async () => (await import('./keys/list.ts')).keysList,
  'keys revoke': async () => (await import('./keys/revoke.ts')).keysRevoke,
  'keys roll': async () => (await import('./keys/roll.ts')).keysRoll,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  move: async () => (await import('./move.ts')).move,
  check: async () => (await import('./check.ts')).check,
  doctor: async () => (await import('./doctor/doctor.ts')).doctor,
}

/** The commands of bare group names, e.g. `repartee agents`. */
export const groupDefaults: Record<string, string> = { agents: 'agents list', keys: 'keys list' }

export const groups: ReadonlySet<string> = new Set(
  Object.keys(commands)
    .filter((name) => name.includes(' '))
    .map((name) => name.split(' ', 1)[0]!),
)
