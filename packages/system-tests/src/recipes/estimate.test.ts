import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { estimateTokens } from '@sluice/budget'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { pageOf } from './document.ts'

/** An id that looks random, and is always the same. */
function uuid(i: number): string {
  const hex = createHash('md5').update(String(i)).digest('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const SAMPLES: Record<string, string> = {
  English: `The rate of requests that a server admits is a promise to every client. When one client sends more than its share, the others wait. A limiter decides before the application responds, so the real cost of a request is known only at the end: whether the password was wrong, how many bytes were sent, or how many tokens a model used.`,
  German: `Ein Begrenzer entscheidet, bevor die Anwendung antwortet. Die wirklichen Kosten einer Anfrage sind oft erst am Ende bekannt: ob das Passwort falsch war, wie viele Bytes gesendet wurden, oder wie viele Token ein Modell verbraucht hat. Deshalb wird zuerst geschätzt und danach abgerechnet.`,
  French: `Un limiteur décide avant que l'application ne réponde. Le coût réel d'une requête n'est souvent connu qu'à la fin : si le mot de passe était faux, combien d'octets ont été envoyés, ou combien de jetons un modèle a utilisés.`,
  Russian: `Ограничитель принимает решение до того, как приложение ответит. Настоящая стоимость запроса часто известна только в конце: был ли пароль неверным, сколько байтов было отправлено, сколько токенов использовала модель.`,
  Chinese: `限流器在应用程序响应之前做出决定。请求的实际成本往往只有在最后才知道：密码是否错误，发送了多少字节，或者模型使用了多少令牌。因此先估算，然后再结算。`,
  Japanese: `リミッターはアプリケーションが応答する前に決定します。リクエストの実際のコストは最後になって初めてわかることが多いです。パスワードが間違っていたか、何バイト送信されたか、モデルがいくつのトークンを使用したか。`,
  Hindi: `सीमक अनुप्रयोग के उत्तर देने से पहले निर्णय लेता है। अनुरोध की वास्तविक लागत अक्सर अंत में ही पता चलती है।`,
  Arabic: `يقرر المحدد قبل أن يستجيب التطبيق. غالبًا ما تُعرف التكلفة الحقيقية للطلب في النهاية فقط: هل كانت كلمة المرور خاطئة، وكم عدد البايتات التي أُرسلت.`,
  code: readFileSync(__filename, 'utf8'),
  JSON: JSON.stringify(
    Array.from({ length: 50 }, (_, i) => ({
      id: i,
      name: `user${i}`,
      active: i % 2 === 0,
      score: i * 1.5,
    })),
  ),
  digits: Array.from({ length: 300 }, (_, i) => (i * 7919) % 10).join(''),
  UUIDs: Array.from({ length: 30 }, (_, i) => uuid(i)).join(' '),
  base64: Buffer.from(Array.from({ length: 2000 }, (_, i) => (i * 7919) % 256)).toString('base64'),
  emoji: '😀🎉🚀👨‍👩‍👧‍👦🇩🇪✨🔥💯'.repeat(5),
}

/** The rows of the page: which texts, and how far off the estimate of each may be. */
const ROWS = [...pageOf('settle').matchAll(/^\| ([^|]+) \| ([\d.]+) to ([\d.]+) \|$/gm)].flatMap(
  ([, names, least, most]) =>
    (names as string).split(', ').map((name) => [name, Number(least), Number(most)] as const),
)
const tokenizer = new Tiktoken(o200k)

test('the page names every kind of text that is measured here', () => {
  expect(ROWS.map(([name]) => name).sort()).toEqual(Object.keys(SAMPLES).sort())
})

test.each(ROWS)('%s: the estimate is %d to %d times the real number', (name, least, most) => {
  const text = SAMPLES[name] as string
  const share = estimateTokens(text) / tokenizer.encode(text).length
  expect(share).toBeGreaterThanOrEqual(least)
  expect(share).toBeLessThanOrEqual(most)
})
