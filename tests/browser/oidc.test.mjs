// Many people, each with an account at an issuer: sign-in, the question, the wrong person, sign-out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POSTGRES, createDatabase } from '../support/database.mjs';
import { connectHost } from './host.mjs';
import { inspect } from './inspect.mjs';
import { ISSUER_COOKIES } from './issuer.mjs';
import { HTTPS, identify, issued, leave, leaveByHand } from './oidc.mjs';
import { CONNECT, FIELD, GOOD_KEY, TIMEOUT, ask, heading, press, text, useBrowser } from './setup.mjs';

useBrowser(HTTPS);

const SIGN_OUT = 'form[action="/logout"] button';
const SWITCH = 'main form[action="/logout"] button';

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
    if (!postgres) await inspect(page, `oidc-connect/${language}`);
    checkCookies(await page.browserContext().cookies(), { https });
    await page.type(FIELD, GOOD_KEY);
    await press(page, CONNECT);
    assert.equal(await heading(page), done);
    if (!postgres) await inspect(page, `oidc-done/${language}`);

    assert.equal((await question.retry()).result.content[0].text, 'sunny in Oslo');
    assert.equal(upstream.served('tools/call').at(-1).key, GOOD_KEY);
    assert.ok(upstream.calls.every(({ headers }) => !headers.authorization), 'the token went upstream');
  });
}

/** R-SEC-06: cookies of the gateway are its own host's alone, and no script's. */
function checkCookies(all, { https }) {
  const cookies = all.filter(({ name }) => !name.startsWith(ISSUER_COOKIES));
  assert.ok(cookies.length > 0);
  for (const { name, httpOnly, sameSite, path, secure } of cookies) {
    assert.deepEqual({ httpOnly, sameSite, path, secure }, { httpOnly: true, sameSite: 'Lax', path: '/', secure: https }, name);
    assert.equal(name.startsWith('__Host-'), https, name);
  }
}

for (const language of ['en', 'zh-CN']) {
  test(`R-ID-03 R-URL-03: the link of another person is refused, names nobody, and the right one can take over (${language})`, { timeout: TIMEOUT }, async (t) => {
    const { as, open } = await issued(t);
    const question = await ask(await as('alice'));
    const page = await open({ language });
    await page.goto(question.url);
    await identify(page, 'bob');

    assert.equal(await heading(page), { en: 'This link is for another account', 'zh-CN': '此链接属于其他账户' }[language]);
    assert.doesNotMatch(await page.content(), /Alice|Bob|7c1f0a|9d4e2b/);
    assert.equal(await page.$(FIELD), null);
    await inspect(page, `oidc-other/${language}`);

    await (language === 'en' ? leave(page, SWITCH) : leaveByHand(page, SWITCH, 'oidc-switch'));
    await identify(page, 'alice');
    // The issuer ends the other session first, by a page that goes on by itself.
    await page.waitForSelector(FIELD);
    assert.equal(page.url(), question.url);
    await page.type(FIELD, GOOD_KEY);
    await press(page, CONNECT);
    assert.equal((await question.retry()).result.content[0].text, 'sunny in Oslo');
  });
}

test('R-SEC-06: signing out ends the session here and at the issuer', { timeout: TIMEOUT }, async (t) => {
  const { service, issuer, open } = await issued(t);
  const page = await open();
  await page.goto(service.origin);
  await identify(page, 'alice');
  assert.equal(await heading(page), 'Your connections');
  await leaveByHand(page, SIGN_OUT, 'oidc-leaving');
  assert.equal(await heading(page), 'Sign out?');
  assert.ok(page.url().startsWith(`${issuer}/`), page.url());
  await press(page, 'button[name=logout]');
  assert.match(await text(page), /You are signed out\./);
  await inspect(page, 'oidc-signed-out');
  await press(page, 'main a.button');
  assert.equal(await heading(page), 'Sign in at Example ID');
});

test('R-ID-01 R-ID-05 R-GW-03: the official client finds the issuer by itself, and its question is answered in the same browser', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, issuer, open } = await issued(t, { hold: '20s' });
  const elsewhere = [issuer];
  const page = await open({ elsewhere });
  const visit = async (url) => {
    elsewhere.push(new URL(new URL(url).searchParams.get('redirect_uri')).origin);
    await page.goto(url);
    await identify(page, 'alice');
    assert.equal(await heading(page), 'Go back to Pocket Assistant');
  };
  let visited;
  const answer = ({ url }) => {
    visited = connect(page, url);
    return { action: 'accept' };
  };
  const client = await connectHost(t, service, { visit, answer });
  const { content } = await client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo' } }, { timeout: 30_000 });
  assert.equal(content[0].text, 'sunny in Oslo');
  await visited;
  assert.equal(await heading(page), 'Connected');
  assert.equal(upstream.served('tools/call').at(-1).key, GOOD_KEY);
});

/** Opens a question's page as somebody whom the issuer knows already, and gives the key. */
async function connect(page, url) {
  await page.goto(url);
  await page.type(FIELD, GOOD_KEY);
  await press(page, CONNECT);
}
