import { useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Answer, answerOf } from 'repartee-client'
import type { AgentChanges } from '../../queries/agents.ts'
import { useClient } from '../../session/session.tsx'
import { Pace } from '../../ui/pace.ts'

export interface TrialTurn {
  id: number
  question: string
  /** The text so far; complete when `answer` is set. */
  reply: string
  answer?: Answer
  error?: unknown
}

/** A preview conversation with the changed agent. It exists only in this component. */
export function useTrial(agentId: string) {
  const client = useClient()
  const [turns, setTurns] = useState<readonly TrialTurn[]>([])
  const running = useRef<AbortController>(undefined)
  const lastId = useRef(0)

  const change = useCallback(
    (id: number, more: Partial<TrialTurn>) =>
      setTurns((now) => now.map((turn) => (turn.id === id ? { ...turn, ...more } : turn))),
    [],
  )
  const leave = useCallback(() => running.current?.abort(), [])
  useEffect(() => leave, [leave])

  const ask = async (message: string, changes: AgentChanges) => {
    const stop = new AbortController()
    running.current = stop
    const id = ++lastId.current
    const input = { agentId, message, changes, history: historyOf(turns), include: ['sources' as const] }
    setTurns((now) => [...now, { id, question: message, reply: '' }])
    let reply = ''
    const pace = new Pace(() => flushSync(() => change(id, { reply })))
    try {
      const answer = await answerOf(client.agents.streamPreview(input, { signal: stop.signal }), (text) => {
        reply = text
        pace.want()
      })
      change(id, { answer, reply: answer.aiMessage.content })
    } catch (error) {
      if (!stop.signal.aborted) change(id, { error })
    } finally {
      pace.rest()
      if (running.current === stop) running.current = undefined
    }
  }
  const reset = () => {
    leave()
    setTurns([])
  }
  const last = turns.at(-1)
  const isRunning = last !== undefined && last.answer === undefined && last.error === undefined
  return { turns, ask, reset, isRunning }
}

/** Maximum number of messages in the history of a preview. */
const LONGEST_HISTORY = 100

/** The history of answered questions; failed questions are left out. */
const historyOf = (turns: readonly TrialTurn[]) =>
  turns
    .flatMap(({ question, answer }) =>
      answer === undefined
        ? []
        : [
            { role: 'USER' as const, content: question },
            { role: 'AI' as const, content: answer.aiMessage.content },
          ],
    )
    .slice(-LONGEST_HISTORY)
