const EVENTS = 'text/event-stream'

/** Returns true if an `Accept` header prefers server-sent events to JSON. If both have the same quality, the first one wins. */
export function wantsEvents(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(EVENTS)) return false
  const ranges = accept.toLowerCase().split(',').map(toRange)
  const events = ranges.find(({ type }) => type === EVENTS)
  if (events === undefined || events.quality === 0) return false
  const json = ranges.find(({ type }) => type === 'application/json')
  if (json === undefined || json.quality === 0) return true
  return events.quality === json.quality ? ranges.indexOf(events) < ranges.indexOf(json) : events.quality > json.quality
}

function toRange(text: string): { type: string; quality: number } {
  const [type, ...parameters] = text.split(';').map((part) => part.trim())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = q === undefined ? 1 : Number(q.slice(2))
  return { type: type!, quality: Number.isNaN(quality) ? 1 : quality }
}
