// The person's own pages: what is connected, what waits, and how a connection ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/deadline.mjs';
import { inspect } from './inspect.mjs';
import { CONNECT, DECLINE, FIELD, GOOD_KEY, TIMEOUT, ask, heading, openPage, press, signIn, stage, text, useBrowser } from './setup.mjs';

useBrowser();

test('R-GW-05: the portal tells how connections come about, and lists the question that waits', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  assert.equal(await heading(page), 'Your connections');
  assert.match(await text(page), /Nothing is connected yet/);
  await inspect(page, 'portal/empty');

  const { url } = await ask(service);
  await page.reload();
  assert.match(await text(page), /Waiting for you/);
  await inspect(page, 'portal/waiting');
  await press(page, `main a[href$="${new URL(url).pathname}"]`);
  assert.equal(await heading(page), 'Connect Weather');
});

test('R-GW-03 R-OAUTH-01: a connection is listed without its key, ends when the person says so, and is asked for again', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  const { url, retry } = await ask(service);
  await page.goto(url);
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
  await retry();

  // The use is written down beside the call, which does not wait for it.
  await until(10_000, 'the last use on the portal', async () => {
    await page.goto(service.origin);
    return !(await text(page)).includes('not yet');
  });
  const shown = await text(page);
  for (const part of ['Weather', 'Working', upstream.origin, 'default']) {
    assert.ok(shown.includes(part), `${part} is not in: ${shown}`);
  }
  assert.ok(!(await page.content()).includes(GOOD_KEY));
  await inspect(page, 'portal');

  await press(page, '::-p-aria(Disconnect Weather)');
  assert.equal(await heading(page), 'Disconnect Weather?');
  await inspect(page, 'disconnect');
  await press(page, 'main form button[type=submit], main form button:not([type])');
  assert.match(await text(page), /Weather is disconnected/);
  await inspect(page, 'portal/disconnected');
  await page.goto(service.origin);
  assert.match(await text(page), /Nothing is connected yet/);

  assert.notEqual((await ask(service)).url, url);
});

test('a refused key is entered again from the portal, on a page that accuses no app', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  const { url, retry } = await ask(service);
  await page.goto(url);
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
  await retry();
  upstream.keys.delete(GOOD_KEY);
  await ask(service);

  await page.goto(service.origin);
  assert.match(await text(page), /Your keys/);
  assert.match(await text(page), /refused just now/);
  await inspect(page, 'portal/refused');
  await press(page, '::-p-aria(Reconnect Weather)');
  assert.equal(await heading(page), 'Connect Weather again');
  const shown = await text(page);
  assert.match(shown, /You are entering a new key for Weather\./);
  assert.doesNotMatch(shown, /wants to use|did not just ask|Asked by/);
  await inspect(page, 'connect-begun');

  upstream.keys.add('key-second');
  await page.type(FIELD, 'key-second');
  await press(page, CONNECT);
  assert.equal(await heading(page), 'Connected');
});

test('R-SEC-03 R-OAUTH-04: apps, activity and browsers are for everyone, in both languages', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  const { url, retry } = await ask(service);
  await page.goto(url);
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
  await retry();
  const other = await openPage(t, service);
  await signIn(other, service);

  const pages = { portal: '/', clients: '/clients', revoke: '/clients/revoke?client=default', activity: '/activity', sessions: '/sessions' };
  for (const language of ['zh-CN', 'en']) {
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${service.origin}${path}${path.includes('?') ? '&' : '?'}lang=${language}`);
      assert.equal(await page.$eval('html', ({ lang }) => lang), language);
      await inspect(page, `${name}/${language}`);
    }
  }
  await page.goto(`${service.origin}/`);
  await press(page, 'nav a[href="/sessions"]');
  assert.equal(await page.$eval('nav [aria-current=page]', ({ innerText }) => innerText), 'Browsers');
  assert.match(await text(page), /Chrome on Linux[\s\S]*This browser/);

  await press(page, 'form[action^="/sessions/"][action$="/end"] button');
  assert.match(await text(page), /That browser is signed out/);
  await inspect(page, 'sessions/ended');
  await other.reload();
  assert.equal(await heading(other), 'Sign in');

  await page.goto(`${service.origin}/clients`);
  await press(page, 'main a[href^="/clients/revoke"]');
  await press(page, 'main form button');
  assert.match(await text(page), /may use nothing of yours any more/);
  await inspect(page, 'clients/revoked');
  await page.goto((await ask(service)).url);
  assert.match(await heading(page), /^Allow .* to use Weather/);
});

test('what was declined can be asked again at once', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  await page.goto((await ask(service)).url);
  await press(page, DECLINE);
  await page.goto(service.origin);
  assert.match(await text(page), /You declined/);
  await inspect(page, 'portal/declined');
  await press(page, '::-p-aria([name="May be asked again: Weather"][role="button"])');
  assert.doesNotMatch(await text(page), /You declined/);
  await page.goto((await ask(service)).url);
  assert.equal(await heading(page), 'Connect Weather');
});
