import { count, textsOf } from '../../texts/define.ts'

const en = count('en')
const ar = count('ar')

/** Texts that several pages share. */
export const usePartTexts = textsOf(
  {
    agents: {
      label: 'Agents',
      all: 'All agents',
      allText: 'Those that are made later, too.',
      some: 'Only these agents',
      search: 'Search agents',
      none: 'No agent fits.',
      empty: 'There is no agent yet.',
      chosen: (n: number) => en(n, { zero: 'No agent is chosen', one: '# agent is chosen', other: '# agents are chosen' }),
      missing: 'Choose at least one agent.',
      more: (n: number) => en(n, { other: '+#' }),
    },
    secret: {
      once: 'It is shown this once',
      done: 'I have copied it',
    },
    budget: {
      tokens: 'tokens',
      cost: 'cost',
      of: (used: string, most: string) => `${used} of ${most}`,
      usedUp: 'Used up',
      until: (when: string) => `Full again ${when}`,
      none: 'No limit',
    },
  },
  {
    ar: {
      agents: {
        label: 'الوكلاء',
        all: 'كل الوكلاء',
        allText: 'ومن يُنشأ منهم لاحقًا أيضًا.',
        some: 'هؤلاء الوكلاء فقط',
        search: 'ابحث في الوكلاء',
        none: 'لا وكيل يطابق.',
        empty: 'لا يوجد وكيل بعد.',
        chosen: (n) =>
          ar(n, {
            zero: 'لم يُختر أي وكيل',
            one: 'اختير وكيل واحد',
            two: 'اختير وكيلان',
            few: 'اختير # وكلاء',
            many: 'اختير # وكيلًا',
            other: 'اختير # وكيل',
          }),
        missing: 'اختر وكيلًا واحدًا على الأقل.',
        more: (n) => ar(n, { other: '+#' }),
      },
      secret: {
        once: 'يُعرض هذه المرة فقط',
        done: 'لقد نسخته',
      },
      budget: {
        tokens: 'الرموز',
        cost: 'التكلفة',
        of: (used, most) => `${used} من ${most}`,
        usedUp: 'استُنفد',
        until: (when) => `يتجدد ${when}`,
        none: 'بلا حد',
      },
    },
  },
)
