import { textsOf } from '../../texts/define.ts'
import { arabic } from './texts-ar.ts'
import { english } from './texts-en.ts'

export type { PlaygroundTexts } from './texts-en.ts'

export const usePlaygroundTexts = textsOf(english, { ar: arabic })
