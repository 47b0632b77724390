// Who is there: the sign-in by a link from the terminal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from './inspect.mjs';
import { CONNECT, FIELD, TIMEOUT, ask, heading, openPage, press, signIn, stage, text, useBrowser } from './setup.mjs';

useBrowser();

test('R-SEC-07: the portal is closed to a browser that has not signed in', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await page.goto(service.origin);
  assert.equal(await heading(page), 'Sign in');
  assert.match(await text(page), /usher login/);
  await inspect(page, 'signin-needed');
});

test('R-URL-03 R-ID-03: a question’s link leads a stranger to the sign-in, and the person back to the question', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const { url } = await ask(service);
  const page = await openPage(t, service);
  await page.goto(url);
  assert.equal(await page.$(FIELD), null);
  assert.equal(await page.$(CONNECT), null);

  await signIn(page, service);

  assert.equal(page.url(), url);
  assert.equal(await heading(page), 'Connect Weather');
});

test('R-SEC-06: a sign-in link shows a button, works once, and leaves a cookie that no script reads', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  const link = await service.login();

  await page.goto(link);
  assert.equal(await heading(page), 'Is this you?');
  await inspect(page, 'signin');
  // Opening the link alone has not used it up: mail scanners and previews open links.
  await page.goto(link);
  await press(page, 'main form button');
  assert.equal(await heading(page), 'Your connections');
  assert.ok(!page.url().includes(new URL(link).pathname.split('/').pop()) || page.url() === `${service.origin}/`);

  const cookies = await page.browserContext().cookies();
  assert.ok(cookies.length >= 1);
  for (const { name, httpOnly, sameSite, path, domain } of cookies) {
    assert.deepEqual({ httpOnly, sameSite, path, domain }, { httpOnly: true, sameSite: 'Lax', path: '/', domain: '127.0.0.1' }, name);
  }

  const other = await openPage(t, service);
  await other.goto(link);
  if (await other.$('main form button')) await press(other, 'main form button');
  assert.equal(await heading(other), 'This sign-in link no longer works');
  await inspect(other, 'signin-used');
  await other.goto(service.origin);
  assert.equal(await heading(other), 'Sign in');
});

test('R-SEC-06: signing out closes the portal', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const page = await openPage(t, service);
  await signIn(page, service);
  await page.goto(await service.login());
  assert.match(await text(page), /You are signed in already/);
  await inspect(page, 'signin/already');
  await page.goto(service.origin);
  await press(page, 'form[action="/logout"] button');
  assert.match(await text(page), /You are signed out\./);
  await inspect(page, 'signin-needed/signed-out');
  await page.goto(service.origin);
  assert.equal(await heading(page), 'Sign in');
});
