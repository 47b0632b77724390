// Many people, each with an account at an issuer: sign-in, the question, the wrong person, sign-out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POSTGRES, createDatabase } from '../support/database.mjs';
import { inspect } from './inspect.mjs';
import { HTTPS, identify, issued } from './oidc.mjs';
import { CONNECT, FIELD, GOOD_KEY, TIMEOUT, ask, heading, press, text, useBrowser } from './setup.mjs';

useBrowser(HTTPS);

const PLACES = [
  { place: 'http on loopback, SQLite', language: 'en', title: 'Connect Weather', done: 'Connected' },
  { place: 'https behind a proxy, SQLite', https: true, language: 'zh-CN', title: /^连接\s?天气$/, done: '已连接' },
  { place: 'https behind a proxy, PostgreSQL', https: true, postgres: true, language: 'en', title: 'Connect Weather', done: 'Connected' },
];

for (const { place, https = false, postgres = false, language, title, done } of PLACES) {
  const skip = postgres && !POSTGRES && 'USHER_TEST_POSTGRES is not set';
  test(`R-ID-01 R-ID-03 R-URL-03: a question leads through the issuer to its page, and the call goes on (${place}, ${language})`, { timeout: TIMEOUT, skip }, async (t) => {
    const store = postgres ? await createDatabase(t) : undefined;
    const { service, upstream, issuer, as, open } = await issued(t, { https, store });
    const question = await ask(await as('alice'));
    const page = await open({ language });

    await page.goto(question.url);
    assert.ok(page.url().startsWith(`${issuer}/`), page.url());
    await identify(page, 'alice');

    assert.equal(page.url(), question.url);
    assert.match(await heading(page), new RegExp(title));
    await inspect(page, `oidc-connect/${language}`);
    checkCookies(await page.browserContext().cookies(service.origin), { https });
    await page.type(FIELD, GOOD_KEY);
    await press(page, CONNECT);
    assert.equal(await heading(page), done);
    await inspect(page, `oidc-done/${language}`);

    assert.equal((await question.retry()).result.content[0].text, 'sunny in Oslo');
    assert.equal(upstream.served('tools/call').at(-1).key, GOOD_KEY);
    assert.ok(upstream.calls.every(({ headers }) => !headers.authorization), 'the token went upstream');
  });
}

/** R-SEC-06: cookies of the gateway are its own host's alone, and no script's. */
function checkCookies(cookies, { https }) {
  assert.ok(cookies.length > 0);
  for (const { name, httpOnly, sameSite, path, secure } of cookies) {
    assert.deepEqual({ httpOnly, sameSite, path, secure }, { httpOnly: true, sameSite: 'Lax', path: '/', secure: https }, name);
    assert.equal(name.startsWith('__Host-'), https, name);
  }
}
