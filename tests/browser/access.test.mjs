// The page for everyone: by keyboard, in both languages, without scripts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from './inspect.mjs';
import { CONNECT, FIELD, GOOD_KEY, TIMEOUT, ask, heading, openPage, press, signIn, stage, text, useBrowser } from './setup.mjs';

useBrowser();

/** Name of the focused element, and whether one can see that it has focus. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return {
      name: element.name ? `${element.name}=${element.type === 'password' ? '' : element.value}` : element.innerText?.trim(),
      tag: element.tagName,
      visible: (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none',
    };
  });
}

test('the whole visit works by keyboard, in the order of reading, with focus in sight', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  const { url, retry } = await ask(service);
  await page.goto(url);

  const order = [];
  for (let step = 0; step < 30; step += 1) {
    await page.keyboard.press('Tab');
    const { name, tag, visible } = await focused(page);
    if (tag === 'BODY') break;
    assert.ok(visible, `focus cannot be seen on ${name}`);
    order.push(name);
  }
  assert.equal(order[0], 'Skip to content');
  const places = ['api_key=', 'action=connect', 'action=decline'].map((name) => order.indexOf(name));
  assert.ok(places.every((place) => place > 0), order.join(' | '));
  assert.deepEqual([...places].sort((a, b) => a - b), places, order.join(' | '));

  await page.focus(FIELD);
  await page.keyboard.type(GOOD_KEY);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  assert.equal(await heading(page), 'Connected');
  assert.equal((await retry()).result.content[0].text, 'sunny in Oslo');
});

test('the language is the browser’s, and the switch in the footer stays', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service, { language: 'zh-CN,zh;q=0.9,en;q=0.5' });
  await signIn(page, service);
  const { url } = await ask(service);
  await page.goto(url);
  assert.match(await heading(page), /^连接\s?天气$/);
  assert.match(await page.$eval('html', ({ lang }) => lang), /^zh/);
  assert.match(await text(page), /API 密钥/);
  await inspect(page, 'connect/zh-CN');

  await switchTo(page, 'en');
  assert.equal(await heading(page), 'Connect Weather');
  assert.ok(page.url().startsWith(url), page.url());
  await page.goto(service.origin);
  assert.equal(await heading(page), 'Your connections');

  await switchTo(page, 'zh-CN');
  assert.equal(await heading(page), '您的连接');
  await inspect(page, 'portal/empty-zh-CN');
});

/** Uses the footer's switch, a link or a form. */
async function switchTo(page, language) {
  const link = `footer a[href*="lang=${language}"], footer [name=lang][value="${language}"]`;
  await press(page, link);
}

test('everything works without scripts', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service, { script: false });
  await signIn(page, service);
  const { url, retry } = await ask(service);
  await page.goto(url);
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
  assert.equal(await heading(page), 'Connected');
  assert.equal((await retry()).result.content[0].text, 'sunny in Oslo');
});

test('what is typed into a secret field can be shown, and is masked again', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  await page.goto((await ask(service)).url);
  await page.type(FIELD, GOOD_KEY);
  const type = () => page.$eval(FIELD, (field) => field.type);
  await page.click('::-p-aria([name="Show API key"][role="button"])');
  assert.equal(await type(), 'text');
  await page.click('::-p-aria([name="Hide API key"][role="button"])');
  assert.equal(await type(), 'password');
});
