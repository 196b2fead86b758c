import { expect, test } from '@jest/globals'
import { html } from './html.ts'

test('a text is escaped, within an element and within an attribute', () => {
  const text = `</script><img src="x" onerror='alert(1)'>&`
  const escaped = '&lt;/script&gt;&lt;img src=&quot;x&quot; onerror=&#39;alert(1)&#39;&gt;&amp;'
  expect(html`<b title="${text}">${text}</b>`.markup).toBe(`<b title="${escaped}">${escaped}</b>`)
})

test('markup goes into markup as it is, one by one and in lists', () => {
  const items = ['<1>', '<2>'].map((item) => html`<li>${item}</li>`)
  expect(html`<ul>${items}</ul>`.markup).toBe('<ul><li>&lt;1&gt;</li><li>&lt;2&gt;</li></ul>')
})

test('false and undefined give nothing, zero is a number', () => {
  expect(html`${false}${undefined}${0}`.markup).toBe('0')
})

test('a backslash stays one', () => {
  expect(html`${'\\n'}`.markup).toBe('\\n')
})
