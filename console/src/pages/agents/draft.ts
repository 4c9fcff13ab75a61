import type { Agent, AgentChanges, CreateAgentInput } from '../../queries/agents.ts'

/** All editable settings of an agent. */
export type Draft = Omit<Agent, 'id' | 'createdAt' | 'updatedAt'>

const FIELDS = [
  ...([
    'name',
    'instructions',
    'greeting',
    'starters',
    'model',
    'fallbackModels',
    'temperature',
    'maxOutputTokens',
    'followUps',
  ] as const),
  ...(['autoName', 'retrieval', 'embeddingModel', 'budget', 'retentionDays', 'allowedOrigins', 'imageHosts'] as const),
] satisfies (keyof Draft)[]

export const toDraft = (agent: Agent): Draft =>
  Object.fromEntries(FIELDS.map((field) => [field, agent[field]])) as unknown as Draft

/** Removes empty lines from lists. */
const filled = (draft: Draft): Draft => {
  const lines = (texts: readonly string[]) => texts.filter((text) => text.trim() !== '')
  const { starters, fallbackModels, allowedOrigins, imageHosts } = draft
  return {
    ...draft,
    starters: lines(starters),
    fallbackModels: lines(fallbackModels),
    allowedOrigins: lines(allowedOrigins),
    imageHosts: lines(imageHosts),
    embeddingModel: draft.embeddingModel?.trim() ? draft.embeddingModel : null,
  }
}

/** Returns the fields in which a draft differs from the agent; empty if nothing changed. */
export function changesOf(draft: Draft, agent: Agent): AgentChanges {
  const wanted = filled(draft)
  const changed = FIELDS.filter((field) => JSON.stringify(wanted[field]) !== JSON.stringify(agent[field]))
  return Object.fromEntries(changed.map((field) => [field, wanted[field]])) as AgentChanges
}

export const isChanged = (draft: Draft, agent: Agent): boolean => Object.keys(changesOf(draft, agent)).length > 0

/** Builds the request that creates an agent. An empty model is omitted, so that the service uses its default. */
export const toCreate = (
  draft: Pick<Draft, 'name' | 'instructions' | 'greeting' | 'starters'> & { model: string },
): CreateAgentInput => ({
  name: draft.name,
  instructions: draft.instructions,
  greeting: draft.greeting,
  starters: draft.starters.filter((text) => text.trim() !== ''),
  ...(draft.model.trim() !== '' && { model: draft.model.trim() }),
})
