// The page of one question: what it says, how it is filled in, how it is declined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from './inspect.mjs';
import {
  BAD_KEY,
  CONNECT,
  DECLINE,
  FIELD,
  GOOD_KEY,
  TIMEOUT,
  ask,
  heading,
  openPage,
  press,
  signIn,
  stage,
  text,
  useBrowser,
} from './setup.mjs';

useBrowser();

/** A signed-in page at a fresh question. */
async function asked(t, options) {
  const { service, upstream } = await stage(t);
  const page = await openPage(t, service, options);
  await signIn(page, service);
  const question = await ask(service);
  const response = await page.goto(question.url);
  return { service, upstream, page, question, response };
}

test('R-OAUTH-03 R-SEC-02: the page says who asks, what for, and where the key goes, and cannot be framed', { timeout: TIMEOUT }, async (t) => {
  const { page, upstream, response } = await asked(t);
  assert.equal(await heading(page), 'Connect Weather');
  const shown = await text(page);
  for (const part of ['default', 'Weather server', upstream.origin, 'API key', 'Pocket Assistant', 'encrypted']) {
    assert.ok(shown.includes(part), `${part} is not in: ${shown}`);
  }
  const headers = response.headers();
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) {
    assert.ok(headers['content-security-policy'].includes(part), headers['content-security-policy']);
  }
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['referrer-policy'], 'same-origin');
  await inspect(page, 'connect');
});

test('R-GW-03: a good key leads to the done page, and the call that asked goes on', { timeout: TIMEOUT }, async (t) => {
  const { page, question, upstream } = await asked(t);
  const masked = await page.$eval(FIELD, ({ type, autocomplete, spellcheck }) => ({ type, autocomplete, spellcheck }));
  assert.equal(masked.type, 'password');
  assert.match(masked.autocomplete, /^(off|new-password)$/);

  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);

  assert.equal(await heading(page), 'Connected');
  assert.ok(!(await page.content()).includes(GOOD_KEY));
  await inspect(page, 'done');
  const { result } = await question.retry();
  assert.equal(result.content[0].text, 'sunny in Oslo');
  assert.equal(upstream.served('tools/call').at(-1).key, GOOD_KEY);
});

test('R-MRTR-03: a used link is a clear page, and its form has no second effect', { timeout: TIMEOUT }, async (t) => {
  const { page, question, upstream } = await asked(t);
  upstream.keys.add('key-second');
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
  await page.goto(question.url);
  assert.equal(await page.$(FIELD), null);
  await inspect(page, 'done/used');

  await page.goBack();
  if (!(await page.$(FIELD))) await page.goBack();
  if (await page.$(FIELD)) {
    await page.$eval(FIELD, (field) => (field.value = ''));
    await page.type(FIELD, 'key-second');
    await press(page, CONNECT);
  }
  await question.retry();
  assert.equal(upstream.served('tools/call').at(-1).key, GOOD_KEY);
});

for (const [language, refused, title] of [
  ['en', 'The provider refused this key (401)', /^Connect Weather$/],
  ['zh-CN', '服务商拒绝了这个密钥（401）', /^连接\s?天气$/],
]) {
  test(`R-SEC-04 R-OAUTH-01: a wrong key: the page says so on top with focus, the key is gone, and another try works (${language})`, { timeout: TIMEOUT }, async (t) => {
    const { page, question, service } = await asked(t, { language });
    await page.type(FIELD, BAD_KEY);
    await press(page, CONNECT);

    assert.match(await heading(page), title);
    assert.equal(await page.$eval(FIELD, ({ value }) => value), '');
    assert.ok(!(await page.content()).includes(BAD_KEY), 'the key is echoed');
    assert.ok(!service.log().includes(BAD_KEY), 'the key is logged');
    const focused = await page.evaluate(() => document.activeElement.innerText);
    assert.ok(focused?.includes(refused), `focus is on: ${focused}`);
    await inspect(page, `connect/error-${language}`);

    await page.type(FIELD, GOOD_KEY);
    await press(page, CONNECT);
    assert.equal((await question.retry()).result.content[0].text, 'sunny in Oslo');
  });

  test(`R-SEC-04: a wrong key: the error stands beside the only field, and the summary leads there (${language})`, { timeout: TIMEOUT }, async (t) => {
    const { page } = await asked(t, { language });
    await page.type(FIELD, BAD_KEY);
    await press(page, CONNECT);

    const field = await page.$eval(FIELD, (element) => ({
      invalid: element.getAttribute('aria-invalid'),
      described: (element.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.innerText)
        .join(' '),
      links: [...document.activeElement.querySelectorAll('a')].map((link) => link.hash.slice(1)),
      id: element.id,
    }));
    assert.equal(field.invalid, 'true');
    assert.ok(field.described.includes(refused), field.described);
    assert.deepEqual(field.links, [field.id]);
  });
}

test('R-ACT-03: decline is a button beside the other, and ends the question', { timeout: TIMEOUT }, async (t) => {
  const { page, question, service } = await asked(t);
  const [connect, decline] = await Promise.all([CONNECT, DECLINE].map(async (selector) => (await page.$(selector)).boundingBox()));
  assert.ok(Math.abs(connect.height - decline.height) < 1 && decline.height >= 44, JSON.stringify({ connect, decline }));

  await press(page, DECLINE);

  assert.equal(await heading(page), 'Declined');
  await inspect(page, 'declined');
  const { result } = await question.retry();
  assert.equal(result.isError, true);
  await page.goto(question.url);
  assert.equal(await page.$(FIELD), null);
  await page.goto(service.origin);
  assert.match(await text(page), /Nothing is connected yet/);
});

test('R-SEC-04: a link that leads nowhere says so', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  for (const path of [`/connect/${'A'.repeat(43)}`, '/connect/x', '/nothing']) {
    const response = await page.goto(`${service.origin}${path}`);
    assert.equal(response.status(), 404, path);
    assert.equal(await heading(page), 'There is nothing here');
  }
  await inspect(page, 'not-found');
});

test('R-OAUTH-03: a form that another page made is refused', { timeout: TIMEOUT }, async (t) => {
  const { page, question, service } = await asked(t);
  await page.type(FIELD, GOOD_KEY);
  await page.$$eval('form input[type=hidden]', (inputs) => inputs.forEach((input) => (input.value = 'forged')));
  const response = await press(page, CONNECT);
  assert.ok(response.status() >= 400 && response.status() < 500, String(response.status()));
  assert.equal(await heading(page), 'This request was refused');
  await inspect(page, 'refused');
  assert.equal((await question.retry()).result.resultType, 'input_required');
  await page.goto(service.origin);
  assert.match(await text(page), /Nothing is connected yet/);
});

test('R-SEC-04: an empty field is named, and nothing is sent', { timeout: TIMEOUT }, async (t) => {
  const { page } = await asked(t);
  // Without the browser's own check, as an old browser would do.
  await page.$$eval('form', (forms) => forms.forEach((form) => (form.noValidate = true)));
  await press(page, CONNECT);
  assert.match(await text(page), /Enter your API key/);
});
