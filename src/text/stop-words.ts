import { fold } from './fold.ts'
import type { Language } from './languages.ts'

/** Stop words per language, lower case, compared after folding. Stems omit them. In Latin and Cyrillic script they vote for the text's language. */
const lists: Partial<Record<Language, string>> = {
  en: `a about above after again against all also am an and any are aren as at be because been before being below between both but by can
    cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having he her
    here hers herself him himself his how however i if in into is isn it its itself just ll m me more most much mustn my myself no nor not of
    off on once only or other our ours ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up upon us ve very was wasn we were weren what when where whether
    which while who whom whose why will with within without won would wouldn you your yours yourself yourselves
    arent cant couldnt didnt doesnt dont hasnt havent hows isnt ive lets please pls plz shouldnt thats theres theyre wasnt werent whats wheres whos wont wouldnt youre`,
  de: `aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da damit dann das dass dem den
    denn der des dessen deren dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas
    euch euer fur gegen gewesen hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist jede jedem jeden
    jeder jedes jetzt kann kein keine keinen konnen konnte man mein meine mehr mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr
    sein seine seinem seinen seiner sich sie sind so solche soll sollte sondern um und uns unser unter viel vom von vor war waren warum was weil
    wann welche welchem welchen welcher welches wenn wer werden wessen wem wen wie wieder will wir wird wo woher wohin wurde wurden zu zum zur zwischen uber`,
  es: `a al algo algunas algunos ante antes aquel aquella como con contra cual cuales cualquier cuando cuanta cuantas cuanto cuantos de del
    desde donde dos durante e el ella ellas ello ellos en entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este esto
    estos fue fueron ha habia haber han hasta hay la las le les lo los mas me mi mis mucho muchos muy nada ni no nos nosotros o os otra otras otro
    otros para pero poco por porque que quien quienes se sea segun ser si sido sin sobre son su sus tambien tan tanto te tiene tienen todo todos tu
    tus un una unas uno unos y ya yo`,
  fr: `a ai ainsi alors apres au aucun aussi autre autres aux avaient avait avant avec avoir c car ce cela celle celles celui ces cet cette ceux
    chez combien comme comment d dans de depuis des deux donc dont du elle elles en encore entre est et etaient etait etant ete etre eu eux fait
    faut furent fut ici il ils j je jusqu l la laquelle le lequel les lesquelles lesquels leur leurs lors lui m ma mais me meme memes mes moi moins
    mon n ne ni nos notre nous on ont ou par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles quelque quels qui quoi s
    sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre vous y`,
  it: `a ad agli ai al alla alle allo anche avere aveva c che chi ci come con contro cosa cui da dagli dai dal dalla dalle dallo degli dei del
    della delle dello di dove due e ed era erano essere fu furono gli ha hanno i il in io l la le lei li lo loro lui ma mi mia mio molto ne negli nei
    nel nella nelle nello noi non nostro o ogni per perche piu poi prima qual quale quali quando quanta quante quanti quanto quella quelle quelli
    quello questa queste questi questo qui se sei si sia solo sono sotto sua sue sui sul sulla sulle suo suoi tra tu tutti tutto un una uno vi voi`,
  pt: `a ainda ao aos apos aquela aquele as ate com como contra da das de dela dele deles depois do dos e ela elas ele eles em entre era eram essa
    esse esta estao estava este eu foi foram ha isso isto ja lhe mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde
    os ou para pela pelas pelo pelos por porque qual quais quando quanta quantas quanto quantos que quem se sem ser seu seus so sobre sua suas tambem te
    tem tinha toda todas todo todos tu um uma umas uns voce voces`,
  nl: `aan al alle als andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen haar had hadden heb hebben heeft hem
    het hier hij hoe hoeveel hun ik in is je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op
    over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welk welke werd werden wie wij wil worden
    wordt zal ze zelf zich zij zijn zo zonder zou`,
  sv: `alla allt att av blev bli blir da de dem den denna deras dess dessa det detta dig din dina dit ditt du dar efter ej eller en er ett fran for
    ha hade han hans har hon honom hur hur har i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu nar nagon
    nagot och om oss pa samma sedan sig sin sina sitt sjalv skulle som sa till under upp ut utan vad var vara varfor varit vart vem vi vid vilka vilken
    vilket`,
  da: `af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en end er et fik for fra ham
    han hans har havde hende hendes her hun hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornar i ikke ind jeg jer jo kan kunne man
    mange med meget men mig min mine mod ned noget nogle nu nar og ogsa om op os over pa sig sin sine skal skulle som til ud under var vi vil ville
    vor være været`,
  no: `alle at av ble bli blir da de deg dem den denne der deres det dette din disse du eller en enn er et etter for fra ha hadde han hans har henne
    hennes her hun hva hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke ingen inn jeg kan kunne man mange med meg mellom men mer min mot mye
    ned noe noen na nar og ogsa om opp oss over pa sa seg selv sin sine skal skulle som til under ut var vart ved vi vil ville vært`,
  fi: `ei eika eivat en enemman eri etta han hanen he heidan hyvin itse ja jo joka jolla jonka jos jossa jota jotka kaikki kanssa keita ken kuin
    kuinka kuka kun kuten ketka koska lisaksi me meidan mika mikä miksi milloin mina minka minun missa mista mita mitka moni monta mukaan mutta myos
    nain ne niiden niin niita noin nyt oli olisi olivat olla on ollut ovat paljon se sen siella siina sina sita silla taman tama tassa tai te tuo vai
    vain vaan vielä yli`,
  ro: `a acea aceasta aceea acest acesta aceste acestea acestei acestor acestui acel acele acelor ai al ale alt alta alte am ar are as asupra au
    avea avem avut ca care carei carora carui cat cate cati catre ce cea cei cel cele celor ceva cine cu cum cand da daca dar de decat deci deoarece
    desi despre din dintre doar dupa ei el ele era erau este eu fara fi fie fiind fost i ii il in inainte intr intre isi iti la le li lor lui mai mult
    multe multi ne nici nimic nu o or ori pana pe pentru peste prin printr sa sale sau se si spre sub sunt te toate tot toti un una unde unei unele unii
    unor unui va vor`,
  tr: `acaba ama ancak arada artik aslinda ayni az bana bazi belki ben beni benim bile bir biraz biri bircok bize bizim bu buna bundan bunlar bunu
    bunun cok cunku da daha dahi de defa degil diger diye dolayi en fakat gibi gore hala hangi hangisi hatta hem hep hepsi her hic icin ile ise iste
    kac kadar kendi ki kim kimden kime kimin kimse mi mu nasil ne neden nedir nerede nereden nereye nicin niye o olan olarak oldu oldugu olduğu olmak
    olup on ona ondan onlar onu onun sadece sen siz sonra su tarafindan tum uzere var ve veya ya yani yok zaten kimdir kimdi kimler miydi neydi neyi neler nelerdi nelerdir kacti kactir hangisidir`,
  pl: `a aby ale bardzo bez bo by byc byl byla bylo byly co czy dla do gdy gdzie go i ich ile im inne ja jak jaka jakie jaki jako je jego jej jest
    jeszcze jesli juz kiedy kto ktora ktore ktory ktorych ktorym ma maja mi mnie moze na nad nam nas nawet nic nich nie niego o od on ona oni one oraz
    pod po przed przez przy sa sie swoje ta tak taki takze tam te tego tej ten to tu tych tylko tym u w we wiec wszystko z za ze zostal`,
  cs: `a aby ale ani asi az bez bude by byl byla bylo byly byt ci co dnes do ho i ja jak jako je jeho jej jeji jejich jen jeste ji jiz jsem jsou k
    kam kde kdo kdy kdyz ke kolik kter ktera ktere ktery kteri ma mezi mi mit mu muze my na nad nam nebo nejsou neni nez o od on ona oni pak po pod
    podle pokud pouze pro proc proto protoze pred pri s se si sve ta tak take takze tam te tedy ten tento to toho tom tomu tu ty u uz v vam ve vsak z za
    ze`,
  hu: `a abban ahhoz ahogy aki akik akkor alatt altal amely amelyek amelyet ami amig arra az azert azok azt azzal be csak de e ebben egy egyeb egyes
    egyik ehhez el eleg elso en ennek es ez ezek ezert ezt ha hanem hany hogy hol hogyan honnan ide igen illetve is itt jobban kell kellett ki kik
    kivel le legy lehet lesz lett maga mar meg mely melyik melyek mert mi miatt mikor milyen mint mit mive most nagy nagyon nekem neki nem nincs o ok
    oket olyan on ott pedig s sem sok szamara szerint szinte ta talan tehat tobb ugy ugyan un utan utana vagy vagyok valo van vannak volt voltak`,
  id: `ada adalah agar akan antara apa apakah atas atau bagi bahwa bagaimana banyak beberapa bisa dalam dan dapat dari dengan di dia harus hingga ia
    ini itu jika juga kami kapan karena ke kepada ketika kita lain lebih maka mana mengapa mereka namun oleh pada para saat saja sangat satu saya
    sebagai sebuah sedang sehingga sejak seperti serta siapa sudah tahun telah tentang terhadap tersebut tetapi tidak untuk yaitu yang`,
  vi: `anh ba bao bi boi cac cai can cang chi cho chung chua co con cua cung da dang day de den di do duoc gi giua hay hon khi khong la lai lam len
    luc ma mot moi nao nay neu nguoi nhieu nhu nhung noi o phai qua ra rang rat roi sao sau se tai tam theo thi tren trong truoc tu tung tuy va van vao vi
    viec voi vua vẫn`,
  ru: `а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее ей ему если есть еще же за здесь и из
    или им их к как какая какие каким каких какого какое какой каком какую ко когда кого кем кому который которая которое которые которого которой
    которых кто куда ли между меня мне может мы на над надо нас наш не него нее ней нет ни них но ну о об однако он она они оно от очень по под после
    потому почему при про раз с сам свои своих себя со сколько так также такой там те тем то того тоже той только том тот ты у уже хотя чего чей чем
    через что чтобы чья эта эти этих это этого этой этом этот эту я`,
  uk: `а але без би був була були було бути в вам вас весь від він вона вони воно все всіх ви де для до його й за з зі і із їй їм їх її та так також
    такий там те ти то того тому у чи чим що щоб це цей ці цього цієї як яка яке які який якого якій яких коли кого хто куди між мене може ми на над нас
    не ні однак по під після при про раз скільки своїх себе тільки через чому я є`,
  bg: `а без беше би бил била били било бъде в ви все всички във где да дали до докато его за защо и из или им има как какво каква какви кога когато
    които кой който коя която което къде към ли между ме ми много може му на над не нея ни но ни о обаче от по под при пред са само се си след със
    така също със тази те тези той това този тя у че чрез ще я`,
  el: `α αλλα αν αντι απο αποτελει αρα αυτα αυτες αυτη αυτην αυτης αυτο αυτοι αυτον αυτος αυτου αυτους αυτων για γιατι δε δεν δια δυο εαν εγω ειναι
    ειχε ειχαν εκει εκεινο ενα εναν ενας ενος ενω επι επισης εσυ εχει εχουν η ηταν θα και καθε καθως κατα κι μας με μεσα μετα μεταξυ μη μην μια μιας
    μου μπορει ο οι ομως οποια οποιες οποιο οποιοι οποιος οποιου οπου οπως οσο οτι οταν ου ουτε οχι παρα περι πιο ποια ποιες ποιο ποιοι ποιον ποιος
    ποιου ποιους ποιων πολυ ποσα ποσες ποσο ποσοι ποσους ποτε που πρεπει πριν προς πως σαν σας σε στα στη στην στης στο στον στου στους στις σου συν τα
    τη την της τι τις το τον τοτε του τους των υπο ως ωστε`,
  ar: `اذا الا التي الذي الذين اللذان اللتان الى ام اما ان انه انها او اول اي اين ايضا بعد بعض بل بما بن به بها بين بينما تلك تم ثم حتى حيث حين خلال
    دون ذلك ذات رغم سوف ضد ضمن على عليه عليها عن عند عندما غير فقد في فيه فيها فيما قبل قد كان كانت كانوا كل كم كما كيف لا لان لدى لقد لكن لم لما لماذا
    له لها لهم لن لو لولا ليس ليست ما ماذا متى مثل مع من منذ منه منها مما نحو نفس هذا هذه هل هم هنا هناك هو هي هؤلاء و وان وقد وكان وكانت وما ومن وهو وهي
    والتي والذي يتم يكون`,
  fa: `از است اگر اما ان انها او این با باید بر برای بود بودند به بین پس تا چرا چند چه چون چیست خود در دو دیگر را روی زیر شد شده شود که کجا کدام کرد
    کرده کند کنند کی کیست ما من می نه نیز ها های هر هم همه هیچ و ولی وی یا یک`,
  hi: `अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसने इसमें उन उनका उनकी उनके उन्हें उन्होंने उस उसका उसकी उसके उसने एक एवं और कब कभी कर करता करते करना
    करने का कि किन किया किस किसी किसने किसे की कुछ के को कोई कौन कौनसा क्या क्यों कहाँ कहां कितना कितनी कितने कैसे गया गए गई जब जहाँ जहां जा जाता
    जाती जाते जाने जिन जिस जिसे जिसके जो तक तथा तब तरह तो था थी थे दिया दो द्वारा न नहीं ने पर फिर बहुत बाद भी मगर में मैं यदि यह यहाँ यहां या ये
    रहा रही रहे लिए लेकिन व वह वहाँ वहां वाला वाली वाले वे सकता सकते सब सभी साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते होना`,
  he: `אבל או אותו אותה אותם אז אחר אחרי אחת אך אל אלא אם אנו אנחנו אני אף את אתה אתם בגלל בו בה בין בלי גם דרך הוא היא היה היו היתה הם הן זאת זה זו
    יותר יש כאשר כדי כי כך כל כמה כמו כן לא לאן לה להיות לו להם לי לפי לפני מאוד מה מי מן מתי על עם עד עוד על פי רק של שלה שלו שלהם שם תחת`,
  ko: `것 그 그리고 그러나 누가 누구 누구의 대한 대해 더 등 또는 또한 무엇 무엇을 무엇이 무엇인가 및 수 어느 어디 어디에 어디서 어떤 어떻게 언제 얼마나 왜 이 있는 있다 있었다
    위해 저 하는 한 했다 몇`,
  zh: `的 了 是 在 和 与 及 或 也 都 就 而 把 被 为 为了 对 对于 从 到 向 由 于 以 以及 将 其 其中 这 这个 这些 那 那个 那些 它 它们 他 她 他们 她们 我 我们 你 你们 您 吗 呢
    吧 啊 着 过 什么 什麼 哪 哪个 哪些 哪里 哪裡 谁 誰 怎么 怎样 如何 为什么 為什麼 何时 多少 几 有 没有 不 很 还 還 之 所 此 该 個 个 因为 因為 所以 但 但是 如果 則 则 並 并 於 為 與
    這 們 會 会 可以 能 是什么 是否 什么时候 什麼時候 何時 哪儿 哪一 哪位 哪种 哪種 哪年 何地 何种 怎么样 多久 多大`,
  ja: `の に は を た が で て と し れ さ ある いる も する から な こと として い や など なっ ない この ため その あっ よう また もの という あり まで られ なる へ か だ これ によって
    により おり より による ず なり られる において ば なかっ なく しかし について せ だっ できる それ う ので なお のみ でき き つ における および いう さらに でも ら たり その他 に関する たち ます
    ん なら に対して です でし まし ました ください 何 誰 どこ いつ なぜ どの どのような どれ どう いくつ 何人 何年 どちら どんな どのくらい どれくらい か ます ませ あり
    って じゃあ けど だけど けれど たん した したら たら てる ほしい いい 教え いくら なに とか`,
  th: `กล่าว กว่า กัน กับ การ ก็ ก่อน ขณะ ขอ ของ ขึ้น คง ครั้ง ความ คือ จะ จาก จึง ช่วง ซึ่ง ด้วย ด้าน ได้ โดย ใด ใคร ใน ต่อ ต่าง ต่างๆ ตาม ต้อง ถึง ถูก ทั้ง ทั้งนี้ ทาง ที่ ทุก ทำ ทำให้ ไม่
    นอกจาก นั้น นัก นี้ นำ บาง เป็น เปิด ไป ผล พบ พร้อม เพราะ เพื่อ มัก มา มาก มี แม้ เมื่อ ยัง รวม ระหว่าง รับ ราย ร่วม แล้ว และ ว่า วัน ไว้ สามารถ ส่ง ส่วน สำหรับ หรือ หลัง หลาย หาก ให้ อยู่
    อย่าง อะไร อาจ อีก เอง เข้า เขา ไหน เท่าไหร่ เท่าไร อย่างไร ทำไม กี่ เมื่อไหร่ เมื่อไร บ้าง แห่ง นาย`,
}

const sets = new Map<Language, ReadonlySet<string>>()

export function stopWords(language: Language): ReadonlySet<string> {
  let set = sets.get(language)
  if (set === undefined) {
    set = new Set((lists[language] ?? '').split(/\s+/).map(fold))
    sets.set(language, set)
  }
  return set
}
