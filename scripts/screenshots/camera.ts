import type { Browser, BrowserContext, Page } from 'playwright-core'

export interface Look {
  /** Size of the window. */
  size: { width: number; height: number }
  scheme: 'light' | 'dark'
  language: 'en' | 'ar'
  isPhone: boolean
}

export const looks = {
  light: { size: { width: 1280, height: 800 }, scheme: 'light', language: 'en', isPhone: false },
  dark: { size: { width: 1280, height: 800 }, scheme: 'dark', language: 'en', isPhone: false },
  tablet: { size: { width: 960, height: 900 }, scheme: 'light', language: 'en', isPhone: false },
  phone: { size: { width: 390, height: 844 }, scheme: 'light', language: 'en', isPhone: true },
  'phone-dark': { size: { width: 390, height: 844 }, scheme: 'dark', language: 'en', isPhone: true },
  arabic: { size: { width: 1280, height: 800 }, scheme: 'light', language: 'ar', isPhone: false },
  'phone-arabic': { size: { width: 390, height: 844 }, scheme: 'dark', language: 'ar', isPhone: true },
} as const satisfies Record<string, Look>
export type LookName = keyof typeof looks

/** Opens a browser context with a look. With a key it is signed in to the console. */
export async function openTab(
  browser: Browser,
  { size, scheme, language, isPhone }: Look,
  key?: string,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    locale: language,
    reducedMotion: 'reduce',
    hasTouch: isPhone,
    isMobile: isPhone,
  })
  if (key !== undefined)
    await context.addInitScript(`sessionStorage.getItem('repartee.key') ?? sessionStorage.setItem('repartee.key', '${key}')`)
  return context
}

/** Resolves when the page has its heading and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.locator('[aria-busy=true], [role=progressbar]:not([aria-valuenow])').first().waitFor({ state: 'detached' })
  await page.evaluate(`Promise.all([...document.images].map((image) => {
    image.loading = 'eager'
    return image.checkVisibility() && image.decode().catch(() => {})
  }))`)
}

/** Replaces addresses of this machine with public ones, so that pictures are reproducible. */
export const rename = (page: Page, addresses: Record<string, string>): Promise<unknown> =>
  page.evaluate(`(() => {
    const names = Object.entries(${JSON.stringify(addresses)})
    const to = (text) => names.reduce((now, [from, name]) => now.replaceAll(from, name), text)
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walk.nextNode()) {
      const { data } = walk.currentNode
      const named = to(data)
      if (named !== data) walk.currentNode.data = named
    }
    for (const field of document.querySelectorAll('input')) field.value = to(field.value)
  })()`)

/** Joins pictures side by side and encodes them as WebP. */
export async function toWebp(page: Page, pictures: Buffer[], quality = 0.8): Promise<Buffer> {
  const GAP = 24
  const address = (await page.evaluate(`(async () => {
    const images = await Promise.all(${JSON.stringify(pictures.map((picture) => picture.toString('base64')))}.map(async (data) => {
      const image = new Image()
      image.src = 'data:image/png;base64,' + data
      await image.decode()
      return image
    }))
    const canvas = document.createElement('canvas')
    canvas.width = images.reduce((sum, { width }) => sum + width, ${GAP} * (images.length - 1))
    canvas.height = Math.max(...images.map(({ height }) => height))
    const context = canvas.getContext('2d')
    let left = 0
    for (const image of images) {
      context.drawImage(image, left, 0)
      left += image.width + ${GAP}
    }
    return canvas.toDataURL('image/webp', ${quality})
  })()`)) as string
  return Buffer.from(address.slice(address.indexOf(',') + 1), 'base64')
}
