import { useCallback, useEffect, useRef, useState } from 'react'
import { type Answer, answerOf } from 'repartee-client'
import { useClient } from '../../session/session.tsx'

export interface TrialTurn {
  id: number
  question: string
  /** As it grows; the whole of it once `answer` is there. */
  reply: string
  answer?: Answer
  error?: unknown
}

/** A conversation with an agent that is thrown away: its session is deleted when it is begun anew, or left. */
export function useTrial(agentId: string, name: string) {
  const client = useClient()
  const [turns, setTurns] = useState<readonly TrialTurn[]>([])
  const session = useRef<Promise<string>>(undefined)
  const running = useRef<AbortController>(undefined)
  const lastId = useRef(0)

  const change = useCallback(
    (id: number, more: Partial<TrialTurn>) =>
      setTurns((now) => now.map((turn) => (turn.id === id ? { ...turn, ...more } : turn))),
    [],
  )
  const begin = useCallback(async () => (await client.sessions.create(agentId, { name })).session.id, [client, agentId, name])
  const clear = useCallback(() => {
    running.current?.abort()
    // Nobody waits for it; one that stays behind is an ordinary session, which can be deleted among the conversations.
    session.current?.then((id) => client.sessions.delete(agentId, id)).catch(() => {})
    session.current = undefined
  }, [client, agentId])
  useEffect(() => clear, [clear])

  const ask = useCallback(
    async (question: string) => {
      const stop = new AbortController()
      running.current = stop
      const id = ++lastId.current
      setTurns((now) => [...now, { id, question, reply: '' }])
      try {
        session.current ??= begin()
        const mine = session.current
        const sessionId = await mine.catch((error) => {
          if (session.current === mine) session.current = undefined
          throw error
        })
        const turn = client.messages.stream(
          agentId,
          sessionId,
          { message: question, include: ['sources'] },
          { signal: stop.signal },
        )
        const answer = await answerOf(turn, (reply) => change(id, { reply }))
        change(id, { answer, reply: answer.aiMessage.content })
      } catch (error) {
        if (!stop.signal.aborted) change(id, { error })
      } finally {
        if (running.current === stop) running.current = undefined
      }
    },
    [client, agentId, begin, change],
  )
  const reset = useCallback(() => {
    clear()
    setTurns([])
  }, [clear])
  const last = turns.at(-1)
  const isRunning = last !== undefined && last.answer === undefined && last.error === undefined
  return { turns, ask, reset, isRunning }
}
