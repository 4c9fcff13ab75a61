// Texts in the screenshots: the help centre of a small lamp maker, its customers' questions, and the replies.

export const AGENTS: { name: string; model: string; budget?: object }[] = [
  { name: 'Onboarding guide', model: 'extractive' },
  { name: 'مساعد خدمة العملاء', model: 'openai/gpt-5-mini' },
  { name: 'Release notes', model: 'extractive' },
  { name: 'Warehouse and returns, second line, Benelux and the Nordic countries', model: 'openai/gpt-5-mini' },
  { name: 'Physics teacher', model: 'openai/gpt-5', budget: { tokensPerDay: 400_000, costPerDay: 4 } },
  { name: 'Field engineers', model: 'openai/gpt-5-mini', budget: { tokensPerDay: 250_000, tokensPerUserPerDay: 20_000 } },
  { name: 'Sales handbook', model: 'openai/gpt-5-mini', budget: { costPerDay: 2.5 } },
  { name: 'Release assistant', model: 'extractive' },
  { name: 'Company handbook', model: 'openai/gpt-5-mini', budget: { tokensPerDay: 90_000 } },
  { name: 'Developer documentation', model: 'extractive' },
  { name: 'Web shop', model: 'openai/gpt-5-mini', budget: { tokensPerDay: 90_000 } },
]

/** Documents in addition to the fixtures. */
export const DOCUMENTS: Record<string, string> = {
  'Delivery and shipping': `Lamps are sent on the day of the order when it comes in before 14:00. A parcel within the European Union takes two to four working days.

## Which countries do you ship to?

Lantern ships to all countries of the European Union, to Norway, Switzerland and the United Kingdom.

## Following a parcel

The link to follow a parcel is in the message that says that it is on its way.`,
  'Returns and refunds': `A lamp can be returned within 30 days. It must be complete, in its box, with the receipt.

## How do I return a lamp?

Print the label under Orders, put it on the box, and bring the box to any parcel shop. The refund arrives within five working days after the parcel has come back.`,
  'Outdoor lamps in winter: storage, batteries, seals, and what the warranty covers between November and March':
    'Outdoor lamps work down to minus twenty degrees. The battery is charged indoors. Seals are checked once a year.',
  'Changing the light in a room': `Each room has scenes. A scene keeps the colour and the brightness of every lamp of the room.

## How do I make a scene?

Set the lamps as you like them, open the room, and choose Save as a scene.`,
  'Voice assistants':
    'A lamp is controlled by voice once the account is linked. Link it in the app of the assistant, under Skills.',
  'Sharing a home':
    'The owner of a home invites others by email. A guest may turn lamps on and off; a member may change scenes too.',
  Warranty: 'Every lamp has a warranty of three years. It covers the lamp, its driver and its battery, and not broken glass.',
  'Energy and costs': 'A lamp of 8 watts that burns four hours a day takes about 12 kilowatt hours a year.',
  'Resetting a lamp': 'Hold the button for ten seconds until the lamp blinks twice. All its settings are gone then.',
  Accessibility: 'The app works with screen readers, with larger text, and with the contrast of the system.',
}

/** `{Title}` is replaced by the number of the passage from the document with that title. */
export const REPLIES: Record<string, string> = {
  'How do I get a refund?': `You can ask for a refund **within 30 days** of a payment. {Plans and billing}

1. Write to billing@lantern.example and name the invoice number. {Plans and billing}
2. If you return a lamp, print the label under *Orders* and bring the box to any parcel shop. {Returns and refunds}

Refunds arrive within five working days. {Plans and billing}`,
  'What does the Team plan cost?':
    'The Team plan costs **12 euros per user each month** and is billed in advance. {Plans and billing}\n\nInvoices are sent by email on the first day of each month. {Plans and billing}',
  'Which lamps are there, and how bright are they?':
    'There are two lamps: {Lamps}\n\n| Lamp | Watts | Colour |\n| --- | --- | --- |\n| Aurora | 5 | green |\n| Ember | 8 | red |\n\nA lamp of 8 watts that burns four hours a day takes about 12 kilowatt hours a year. {Energy and costs}',
  'My lamp flashes red. What is wrong?':
    'Lamps that flash red have lost the network. {Lamps}\n\nHold the button for five seconds until the lamp blinks, then scan the code with the app. {Lamps}',
  'How do I restore a backup?':
    'Three steps restore a backup: {Backing up}\n\n1. Stop the server with `lantern stop`.\n2. Unpack the archive into the data folder.\n3. Start the server with `lantern start`.\n\nRestoring replaces everything that was written since the backup was made. {Backing up}',
  'Which countries do you ship to?':
    'Lantern ships to all countries of the European Union, to Norway, Switzerland and the United Kingdom. {Delivery and shipping}',
  'How many requests may I send?':
    'Each key may send **600 requests a minute**. {Rate limits} Beyond that the server answers `429` and says in the header `Retry-After` how many seconds to wait:\n\n```http\nHTTP/1.1 429 Too Many Requests\nRetry-After: 12\n```',
  'How do I share my home with my family?':
    'The owner of a home invites others by email. {Sharing a home} A guest may turn lamps on and off; a member may change scenes too.',
  'Does the warranty cover broken glass?':
    'No. The warranty of three years covers the lamp, its driver and its battery, and not broken glass. {Warranty}',
  'How cold may it be outside?':
    'Outdoor lamps work down to minus twenty degrees. {Outdoor lamps in winter} Charge the battery indoors.',
}
export const QUESTIONS = Object.keys(REPLIES)

/** Questions that the documents do not answer. */
export const UNKNOWN = [
  'Is there a student discount?',
  'Who founded the company, and in which year did the first lamp leave the workshop in Aarhus?',
  'Can I pay with cryptocurrency?',
  'Do you have a student discount?',
  'What is the weather in Lisbon?',
]
export const DONT_KNOW = "I don't know: the knowledge base does not hold an answer to this question."

export const NAMES: Record<string, string> = {
  'How do I get a refund?': 'Refund of an invoice',
  'What does the Team plan cost?': 'Price of the Team plan',
  'Which lamps are there, and how bright are they?': 'Lamps and their brightness, with what they cost in a year',
  'My lamp flashes red. What is wrong?': 'A lamp that flashes red',
  'How do I restore a backup?': 'Restoring a backup',
}

export const FOLLOW_UPS = [
  'How do I return a lamp?',
  'How are invoices sent?',
  'Which countries do you ship to?',
  'Does the warranty cover broken glass?',
  'How do I make a scene?',
  'How is a lamp connected?',
]

export const COMMENTS = [
  'It named the wrong page, but the steps were right.',
  'Too long. I only wanted the price.',
  'Exactly what I was looking for, thank you!',
]

/** The shop page that contains the chat. */
export const SHOP = `<header><b>Lantern</b><nav><a href="#l">Lamps</a> <a href="#r">Rooms</a> <a href="#h">Help</a></nav></header>
<main><h1>Light for long evenings</h1>
<p class="lead">Small lamps that know the hour: bright at breakfast, warm at dinner, and gone when you sleep.</p>
<a class="buy" href="#all">See all lamps</a>
<ul><li><i class="aurora"></i><b>Aurora</b><span>5 watts, green, 49 €</span></li><li><i class="ember"></i><b>Ember</b><span>8 watts, red, 59 €</span></li><li><i class="dusk"></i><b>Dusk</b><span>6 watts, warm white, 54 €</span></li></ul></main>`
export const SHOP_STYLE = `:root { color-scheme: light dark }
body { margin: 0; font: 16px/1.6 Georgia, serif; color: light-dark(#2b2620, #ece6dc); background: light-dark(#faf7f2, #1a1714) }
repartee-chat { --repartee-font: 'Helvetica Neue', Arial, sans-serif }
header { display: flex; justify-content: space-between; padding: 18px 40px; border-bottom: 1px solid light-dark(#e6dfd3, #332d26) }
nav { display: flex; gap: 24px } a { color: inherit; text-decoration: none }
main { max-width: 760px; padding: 48px 40px } h1 { max-width: 12em; margin: 0 0 12px; font-size: 40px; line-height: 1.15 } .lead { max-width: 26em; font-size: 18px }
.buy { display: inline-block; margin: 12px 0 36px; padding: 12px 22px; border-radius: 6px; background: #8a4b12; color: #fff }
ul { display: grid; grid-template-columns: repeat(3, 190px); gap: 20px; padding: 0; list-style: none } li { display: grid; font-size: 14px } i { height: 130px; border-radius: 10px; margin-bottom: 8px }
.aurora { background: linear-gradient(160deg, #d7e8c8, #5d8a5a) } .ember { background: linear-gradient(160deg, #f6cfae, #b5482a) } .dusk { background: linear-gradient(160deg, #fbeccb, #c79a4b) }
@media (max-width: 600px) { header, main { padding-inline: 20px } ul { grid-template-columns: 1fr 1fr } h1 { font-size: 32px } }`
