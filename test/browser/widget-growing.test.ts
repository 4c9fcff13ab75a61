// A reply in the widget while it is written: what the page has to do for each piece of it.
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { ask, inChat, isDone, openStage, replies } from '../support/chat-stage.ts'
import { streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'

const stage = await openStage()
const { service, newContext, open } = stage
afterEach(() => stage.check())
after(() => stage.close())

/** Frames come when the test says so, as in a page in the background. */
const HOLD_FRAMES = `{
  const waiting = []
  globalThis.requestAnimationFrame = (callback) => waiting.push(callback)
  globalThis.nextFrame = () => waiting.splice(0).forEach((callback) => callback())
}`
/** Puts down how many characters come into the chat with each change. */
const WATCH_CHANGES = `{
  globalThis.changes = []
  const charsOf = ({ addedNodes, target }) => [...addedNodes, target].reduce((sum, node) => sum + (node.data ?? (node === target ? '' : node.textContent)).length, 0)
  new MutationObserver((records) => changes.push(records.reduce((sum, record) => sum + charsOf(record), 0))).observe(
    document.querySelector('repartee-chat').shadowRoot.querySelector('.entries'),
    { childList: true, characterData: true, subtree: true },
  )
}`
/** The text of the reply as far as it is shown. */
const SHOWN = "chat.querySelector('.reply .body').textContent"

describe('a reply that is being written', () => {
  test('in many pieces is shown once a frame, and its end without one', async () => {
    const context = await newContext()
    await context.addInitScript(HOLD_FRAMES)
    const pieces = Array.from({ length: 60 }, (_, i) => `word${i} `)
    const { promise, resolve } = Promise.withResolvers<void>()
    service.model.behaviour = streams(pieces, { gates: Object.assign([], { 30: promise }) })
    const page = await open('/', context)
    await ask(page, 'Tell me more.')
    await replies(page).locator('.dots').waitFor()
    await page.evaluate(WATCH_CHANGES)
    let frames = 0
    await until('the first half is shown', async () => {
      frames++
      await page.evaluate('nextFrame()')
      return String(await inChat(page, SHOWN)).includes('word29')
    })
    const changes = (await page.evaluate('changes.length')) as number
    assert.ok(changes <= frames, `${changes} changes in ${frames} frames`)
    resolve()
    await isDone(page)
    assert.equal(await page.evaluate('changes.length'), changes + 1, 'no frame, and nothing but the end')
    assert.equal(await replies(page).locator('.body').innerText(), pieces.join('').trim())
  })

  test('costs the page as much at its end as at its beginning', async () => {
    const long = `${'A line of it.\n'.repeat(700)}\n${'Many words without an end '.repeat(400)}${'🙂'.repeat(7_001)}`
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const behaviour = streams([long, ' and more', ' to the end'], {
      gates: [Promise.resolve(), ...gates.map((gate) => gate.promise)],
    })
    service.model.behaviour = behaviour
    const page = await open()
    await ask(page, 'Tell me all.')
    await until('it is shown', async () => (await inChat(page, SHOWN)) === long)
    await page.evaluate(WATCH_CHANGES)
    gates[0]!.resolve()
    await until('more is shown', async () => (await inChat(page, SHOWN)) === `${long} and more`)
    const chars = ((await page.evaluate('changes')) as number[]).reduce((sum, change) => sum + change, 0)
    assert.ok(chars < 10_000, `${chars} characters of ${long.length} for a few`)
    gates[1]!.resolve()
    await isDone(page)
  })
})
