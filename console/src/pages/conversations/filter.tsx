import { useEffect, useMemo, useState } from 'react'
import { useLocation, useRouter, useSearch } from 'wouter'
import type { SessionFilter } from '../../queries/conversations.ts'
import { DateRange, type Days, isDay, lastDays, toTimes } from '../../ui/date-range.tsx'
import { SearchField } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { useConversationTexts } from './texts.ts'

const SPANS = ['any', '1', '7', '30', '90'] as const
type Span = (typeof SPANS)[number] | 'own'
const TYPING_MS = 300
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The filter from the address, so that a link can be shared. */
export function useFilter() {
  const search = useSearch()
  return useMemo(() => {
    const given = new URLSearchParams(search)
    const [user, q, from, to] = ['user', 'q', 'from', 'to'].map((name) => given.get(name) ?? '') as [
      string,
      string,
      string,
      string,
    ]
    const days = isDay(from) && isDay(to) && from <= to ? { from, to } : undefined
    const filter: SessionFilter = {
      ...(isUuid(user) && { externalUserId: user.toLowerCase() }),
      ...(q.trim() !== '' && { q: q.trim() }),
      ...(days !== undefined && toTimes(days)),
    }
    return { user, q, days, filter, search: search === '' ? '' : `?${search}`, isSet: Object.keys(filter).length > 0 }
  }, [search])
}

/** Address of the list of one user's conversations. */
export const hrefOfUser = (agentId: string, userId: string) => `/agents/${agentId}/conversations?user=${userId}`

/** Filters the list of conversations. Typed text takes effect when typing stops. */
export function FilterBar() {
  const texts = useConversationTexts().filter
  const [, navigate] = useLocation()
  const { base } = useRouter()
  const { user, q, days } = useFilter()
  const set = (values: Record<string, string | undefined>) => {
    // Read the current address: another field or another conversation may have changed it during the typing delay.
    const path = location.pathname.slice(base.length)
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(values))
      if (value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    const text = next.toString()
    navigate(text === '' ? path : `${path}?${text}`, { replace: true })
  }
  const [typedUser, setUser] = useTyped(user, (value) => (value === '' || isUuid(value)) && set({ user: value }))
  const [typedWords, setWords] = useTyped(q, (value) => set({ q: value }))
  const [isOwn, setOwn] = useState(false)
  const preset = SPANS.find((span) => (span === 'any' ? days === undefined : isLast(days, Number(span))))
  const span: Span = isOwn || preset === undefined ? 'own' : preset
  const pick = (next: Span) => {
    setOwn(next === 'own')
    if (next === 'own') set(days ?? { ...lastDays(30) })
    else set(next === 'any' ? { from: undefined, to: undefined } : { ...lastDays(Number(next)) })
  }
  const isNoUser = typedUser.trim() !== '' && !isUuid(typedUser.trim())
  return (
    <search className="conversations-filter">
      <SearchField label={texts.words} value={typedWords} onChange={setWords} maxLength={200} />
      <SearchField label={texts.user} value={typedUser} onChange={setUser} error={isNoUser ? texts.noUser : undefined} />
      <div>
        <Select
          label={texts.time}
          hidesLabel
          options={[...SPANS.map((id) => ({ id, label: texts.spans[id] })), { id: 'own' as const, label: texts.spans.own }]}
          value={span}
          onChange={pick}
        />
      </div>
      {span === 'own' && days !== undefined && (
        <div className="conversations-range">
          <DateRange label={texts.range} hidesLabel value={days} onChange={(next: Days) => set({ ...next })} />
        </div>
      )}
    </search>
  )
}

const isLast = (days: Days | undefined, n: number) => {
  const last = lastDays(n)
  return days?.from === last.from && days.to === last.to
}

/** Text of a field that is reported when typing stops, and that follows changes from outside. */
function useTyped(value: string, tell: (value: string) => void) {
  const [typed, setTyped] = useState(value)
  const [told, setTold] = useState(value)
  if (told !== value) {
    setTold(value)
    if (typed.trim() !== value) setTyped(value)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the delay
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => tell(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return [typed, setTyped] as const
}
