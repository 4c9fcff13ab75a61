// The chat and the page that it stands in: what each has of the other, how it is seen, and what docs/widget.md says of it.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, afterEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { policyFor } from '../support/chat-site.ts'
import { ask, inChat, isDone, launcher, openStage, pageOf, replies } from '../support/chat-stage.ts'
import { refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const stage = await openStage()
const { service, site, host, origin, user, agent, tag, visit, open } = stage
afterEach(() => stage.check())
after(() => stage.close())

describe('the page', () => {
  const BODY = `<main><h1>Lanterns</h1><p>Warm light</p><p hidden>unseen</p><p class="gone">unseen</p>
    <form><input value="typed-1"><textarea>typed-2</textarea><div contenteditable>typed-3</div></form></main><aside>Elsewhere</aside><link rel="stylesheet" href="/style.css">`

  test('is told to the agent only where its owner wants that, and never what was typed into it', async () => {
    site.pages['/plain'] = pageOf(tag(), BODY)
    const page = await visit('/plain')
    const prompt = async (path: string) => {
      await page.evaluate('sessionStorage.clear()')
      await page.goto(origin + path)
      await launcher(page).click()
      await ask(page, 'What is this page about?')
      await isDone(page)
      return JSON.stringify(service.model.lastPrompt)
    }
    site.pages['/style.css'] = '.gone { display: none }'
    site.pages['/page'] = pageOf(tag('data-context="page"'), BODY)
    site.pages['/aside'] = pageOf(tag('data-context="aside"'), BODY)
    site.pages['/function'] = `${pageOf('', BODY)}${tag('', '')}<script src="/function.js"></script>`
    site.pages['/function.js'] =
      `Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token', context: async () => 'It is product 17.' })`
    assert.doesNotMatch(await prompt('/plain'), /Warm light|A shop/)
    const told = await prompt('/page')
    assert.match(told, /A shop/)
    assert.match(told, new RegExp(`${origin}/page`))
    assert.match(told, /Lanterns.*Warm light/)
    assert.doesNotMatch(told, /typed|unseen|Elsewhere/)
    assert.match(await prompt('/aside'), /Elsewhere/)
    assert.match(await prompt('/function'), /It is product 17\./)
  })

  test('may have two tags, hears what happens, and can do all that a visitor can', async () => {
    site.pages['/api'] = `${pageOf(tag() + tag())}<script src="/api.js"></script>`
    site.pages['/api.js'] = `globalThis.heard = []
      for (const event of ['open', 'close', 'message', 'error'])
        Repartee.on(event, (detail) => heard.push([event, detail.role, detail.text ?? detail.html].filter(Boolean).join(' ')))`
    const page = await visit('/api')
    await launcher(page).waitFor()
    assert.equal(await page.locator('repartee-chat').count(), 1)
    await page.evaluate("Repartee.open(), Repartee.send('Hello?')")
    await isDone(page)
    await page.evaluate(`Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token' })`)
    assert.equal(await replies(page).count(), 1, 'what is there is left as it is')
    await page.evaluate('Repartee.close()')
    assert.deepEqual(await page.evaluate('heard'), ['open', 'message user Hello?', 'message agent <p>A reply.</p>\n', 'close'])
    const globals = await page.evaluate(`(() => {
      const frame = document.body.appendChild(document.createElement('iframe'))
      const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow))
      frame.remove()
      return Object.getOwnPropertyNames(window).filter((name) => !usual.has(name) && !/^(heard|violations|__pw.*|__playwright.*|0)$/.test(name))
    })()`)
    assert.deepEqual(globals, ['Repartee'])
    await page.evaluate('Repartee.destroy()')
    assert.equal(await page.locator('repartee-chat').count(), 0)
  })

  test('may make the chat before there is a body, and replace the body, and all that is in it, later', async () => {
    site.pages['/head'] = pageOf(`${tag('', '')}<script src="/head.js"></script>`, '<main><h1>Lanterns</h1></main>', 'lang="de"')
    site.pages['/head.js'] = `Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token', lang: 'en' }); Repartee.open()`
    const page = await visit('/head')
    await ask(page, 'Hello?')
    await isDone(page)
    await page.evaluate(
      `document.body.replaceWith(Object.assign(document.createElement('body'), { textContent: 'Another page' }))`,
    )
    await page.evaluate('document.body.replaceChildren()')
    await ask(page, 'Still there?')
    await isDone(page, 2)
  })

  test('has its keyboard shortcuts, which are not what is typed into the chat', async () => {
    site.pages['/keys'] = `${pageOf(tag())}<script src="/keys.js"></script>`
    site.pages['/keys.js'] = `globalThis.pressed = []
      for (const type of ['keydown', 'keypress', 'keyup'])
        addEventListener(type, (event) => {
          if (event.target.closest('input, textarea')) return
          event.preventDefault()
          if (type === 'keydown') pressed.push(event.key)
        })`
    const page = await open('/keys')
    const field = page.getByRole('textbox', { name: 'Write a message …' })
    await field.pressSequentially('/s?')
    assert.equal(await field.inputValue(), '/s?')
    await page.keyboard.press('Control+k')
    assert.deepEqual(await page.evaluate('pressed'), ['Control', 'k'])
  })

  test('may say later which agent it is, and change it, as frameworks do', async () => {
    site.pages['/open/later'] = pageOf(tag('', ''), '<main><h1>Lanterns</h1><repartee-chat></repartee-chat></main>')
    const page = await visit('/open/later')
    const set = (name: string, value: string) =>
      page.evaluate(`document.querySelector('repartee-chat').setAttribute('${name}', '${value}')`)
    await page.evaluate(`document.querySelector('repartee-chat').send('Hello?')`)
    await set('token-url', '/chat-token')
    await set('agent', agent)
    await isDone(page)
    await set('title', 'Ask Lantern')
    await page.getByRole('region', { name: 'Ask Lantern' }).waitFor()
    await isDone(page)
    const other = await stage.newAgent()
    site.agent = other
    await set('agent', other)
    await page.getByRole('region', { name: 'Ask Lantern' }).waitFor()
    assert.equal(await replies(page).count(), 0, 'the conversation with the other agent is another one')
    await ask(page, 'And you?')
    await isDone(page)
  })

  test('that cannot say what it is about does not keep back what is written', async () => {
    site.pages['/silent'] = `${pageOf('')}${tag('', '')}<script src="/silent.js"></script>`
    site.pages['/silent.js'] =
      `Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token', context: () => new Promise(() => {}) })`
    const silent = await visit('/silent', await stage.newContext())
    await silent.clock.install()
    await launcher(silent).click()
    await ask(silent, 'Hello?')
    await until('it is sent', async () => {
      await silent.clock.runFor(1_000)
      return (await replies(silent).count()) === 1
    })
    await isDone(silent)
    // The cut falls into the middle of a character.
    site.pages['/cut'] = `${pageOf('')}${tag('', '')}<script src="/cut.js"></script>`
    site.pages['/cut.js'] =
      `Repartee.create({ agentId: '${agent}', tokenUrl: '/chat-token', context: () => 'x'.repeat(11999) + '\u{1F600}' })`
    const cut = await open('/cut')
    await ask(cut, 'Hello?')
    await isDone(cut)
  })

  test('keeps its styles to itself, and holds a chat where it wants one', async () => {
    const element = `<repartee-chat agent="${agent}" token-url="/chat-token"></repartee-chat>`
    const styles =
      '<style>* { color: red; font-size: 40px; text-transform: uppercase } button { display: none } p { display: none }</style>'
    site.pages['/open/inline'] = pageOf(tag('', '') + styles, `<main><h1>Lanterns</h1>${element}</main>`)
    const page = await visit('/open/inline')
    await page.getByRole('region', { name: 'Ask us' }).waitFor()
    await ask(page, 'Hello?')
    const reply = await isDone(page)
    assert.equal(await reply.isVisible(), true)
    const style = "getComputedStyle(chat.querySelector('.reply p'))"
    assert.equal(
      await inChat(page, `[${style}.color, ${style}.fontSize, ${style}.textTransform].join(' ')`),
      'rgb(24, 26, 32) 15px none',
    )
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('h1')).color"), 'rgb(255, 0, 0)')
    await page.evaluate("document.querySelector('repartee-chat').setAttribute('theme', 'dark')")
    assert.equal(await inChat(page, `${style}.color`), 'rgb(236, 238, 243)')
    assert.equal(await page.getByRole('button', { name: 'Close the chat' }).count(), 0)
  })

  test('gives the chat its language and its direction', async () => {
    site.pages['/ar'] = pageOf(tag(`data-labels='{"title":"متجر"}'`), '<main></main>', 'lang="ar"')
    site.pages['/de'] = pageOf(tag(), '<main></main>', 'lang="de-AT"')
    const page = await visit('/ar')
    await page.getByRole('button', { name: 'فتح المحادثة' }).click()
    const dialog = page.getByRole('dialog', { name: 'متجر' })
    assert.equal(await inChat(page, "getComputedStyle(chat.querySelector('.panel')).direction"), 'rtl')
    assert.equal((await dialog.boundingBox())!.x, 20, 'in the corner where lines end')
    await page.goto(`${origin}/de`)
    await page.getByRole('dialog', { name: 'Fragen Sie uns' }).waitFor()
  })
})

describe('what is seen', () => {
  const audit = async (page: Page, what: string) => {
    await page.evaluate(AXE)
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    const told = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`,
    )
    assert.deepEqual(told, [], what)
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`can be used by everybody, ${colorScheme}, closed and open, on a phone too`, async () => {
      const text =
        'Open on Saturday from 10:00 to 16:00. [1]\n\n> Quoted `code` https://example.com\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n```\n' +
        'wide '.repeat(40) +
        '\n```'
      service.model.behaviour = says(text)
      const page = await visit()
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await launcher(page).waitFor()
      await audit(page, 'closed')
      await launcher(page).click()
      await ask(page, 'When is the shop open on Saturday?')
      await isDone(page)
      service.model.behaviour = refuses(500)
      await ask(page, 'And on Sunday?')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await audit(page, 'open')
      await page.evaluate("document.documentElement.style.setProperty('--repartee-accent', '#ffd23f')")
      await audit(page, 'in the colour of the page')
      await page.setViewportSize({ width: 390, height: 844 })
      await until('it fills the screen', async () => (await page.getByRole('dialog').getAttribute('aria-modal')) === 'true')
      const box = await page.getByRole('dialog').boundingBox()
      assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 })
      await audit(page, 'on a phone')
      const seen = new Set<unknown>()
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press('Tab')
        seen.add(await page.evaluate('document.activeElement.localName'))
      }
      assert.deepEqual([...seen], ['repartee-chat'], 'the page behind it is not reached')
    })
  }
})

describe('docs/widget.md', () => {
  const text = readFileSync(new URL('../../docs/widget.md', import.meta.url), 'utf8')
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block!)

  for (const [i, block] of blocks('html').entries()) {
    test(`block ${i + 1} of HTML does what the page says: ${block.split('\n', 1)[0]}`, async () => {
      const own = block.replaceAll('https://chat.example.com', host).replaceAll(UUID, agent)
      const isTheme = own.startsWith('<style>')
      site.pages[`/open/doc-${i}`] = pageOf('', `<main><h1>Lanterns</h1>${own}${isTheme ? tag() : ''}</main>`)
      const page = await visit(`/open/doc-${i}`)
      // The page's own button comes first, where there is one.
      if (!own.includes('<repartee-chat'))
        await page
          .getByRole('button', { name: /Ask us|Open the chat/ })
          .first()
          .click()
      await ask(page, 'When is the shop open?')
      await isDone(page)
      const accent = await inChat(page, "getComputedStyle(chat.querySelector('.question')).backgroundColor")
      assert.equal(accent, isTheme ? 'rgb(11, 110, 79)' : 'rgb(36, 87, 230)')
    })
  }

  test('the function of the server makes tokens', async () => {
    const [block] = blocks('js')
    const { secret } = (await service.client.post('/keys', { name: 'site', scopes: ['chat'], agentIds: [agent] })).body
    Object.assign(process.env, { BASE: service.client.address.baseUrl, KEY: secret, AGENT: agent })
    const { chatToken } = await import(`data:text/javascript,${encodeURIComponent(block!)}`)
    const { token, expiresAt } = await chatToken(user)
    assert.ok(Date.parse(expiresAt) > Date.now())
    assert.equal((await service.client.as(token).get(`/agents/${agent}/sessions`)).status, 200)
  })

  test('names the policy that the pages here have, every attribute, every text and every property', () => {
    assert.ok(text.includes(policyFor('https://chat.example.com').replace("default-src 'none'; ", '')))
    const source = (path: string) => readFileSync(new URL(`../../widget/src/${path}`, import.meta.url), 'utf8')
    const attributes = /const ATTRIBUTES.*?= \{(.*?)^\}/ms.exec(source('options.ts'))![1]!.matchAll(/^ {2}'?([a-z-]+)'?:/gm)
    const labels = source('labels/en.ts').matchAll(/^ {2}(\w+):/gm)
    const styles = readdirSync(new URL('../../widget/src/styles/', import.meta.url)).map((name) => source(`styles/${name}`))
    const properties = styles.join('\n').matchAll(/var\((--repartee-[a-z-]+)/g)
    const names = [
      ...Array.from(attributes, ([, name]) => `data-${name}`),
      ...Array.from(labels, ([, name]) => name!),
      ...Array.from(properties, ([, name]) => name!),
    ]
    assert.ok(names.includes('data-token-url') && names.length > 70, String(names.length))
    assert.deepEqual(
      names.filter((name) => !text.includes(`\`${name}\``)),
      [],
    )
  })
})
