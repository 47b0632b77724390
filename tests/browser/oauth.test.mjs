// An account at a third party, connected once in Chromium: the question, consent, the way there and back, and tokens that are
// renewed by themselves until their owner takes them away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { POSTGRES, createDatabase } from '../support/database.mjs';
import { until } from '../support/deadline.mjs';
import { freePort } from '../support/port.mjs';
import { startUsher } from '../support/usher.mjs';
import { inspect } from './inspect.mjs';
import { CLIENT, OWNER, startNotes } from './notes.mjs';
import { DECLINE, TIMEOUT, heading, openPage, press, signIn, text, useBrowser } from './setup.mjs';

useBrowser();

const CONTINUE = 'button[name=action][value=authorize]';
const CALL = { timeout: 40_000 };

/** The provider as an operator writes it who has no file for it. */
const account = ({ issuer, entry, upstream }) => `
[[provider]]
name = "notes"
title = { en = "Example Notes", "zh-CN" = "示例笔记" }
kind = "oauth"
issuer = "${issuer}"
authorization_endpoint = "${entry}/auth"
token_endpoint = "${issuer}/token"
client_id = "${CLIENT.id}"
client_secret = "${CLIENT.secret}"
scopes = ["openid", "profile", "offline_access", "notes:read"]
authorize = { parameters = { prompt = "consent" } }
revocation = { endpoint = "${issuer}/token/revocation" }
account = { url = "${issuer}/me", member = "name" }
scope_text = { "notes:read" = { en = "read your notes", "zh-CN" = "读取您的笔记" } }
${server(upstream)}`;

/** The provider that the server itself names. */
const demanded = ({ upstream }) => `
[egress]
allow = ["127.0.0.1"]
[[provider]]
name = "notes"
title = { en = "Example Notes", "zh-CN" = "示例笔记" }
kind = "mcp"
${server(upstream)}`;

const server = ({ origin }) => `
[[upstream]]
name = "notes"
title = { en = "Notes server", "zh-CN" = "笔记服务器" }
url = "${origin}/mcp"
hold = "20s"
[[upstream.needs]]
provider = "notes"
`;

/** Provider, server and gateway for the test `t`, and a browser whose owner has signed in to the gateway. */
async function connected(t, { kind, store, language = 'en', forwards = false }) {
  const port = await freePort();
  const notes = await startNotes({ usher: `http://127.0.0.1:${port}`, protects: kind === 'mcp', forwards });
  t.after(() => notes.stop());
  const servers = kind === 'mcp' ? demanded(notes) : account(notes);
  const service = await startUsher({ servers, site: { port, store } });
  t.after(() => service.stop());
  const browser = await openPage(t, service, { language, elsewhere: [notes.issuer, notes.entry] });
  await signIn(browser, service);
  return { notes, service, browser };
}

/** A client of the official SDK; `answer` gets the parameters of each question. */
async function connect(t, service, { era, answer }) {
  const client = new Client(
    { name: 'Pocket Assistant', version: '1' },
    {
      capabilities: { elicitation: { url: {} } },
      ...(era === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
  const transport = new StreamableHTTPClientTransport(new URL(service.endpoint('notes')), {
    requestInit: { headers: { authorization: `Bearer ${service.token}` } },
  });
  await client.connect(transport, { timeout: 10_000 });
  t.after(() => client.close());
  return client;
}

const forecast = (client) => client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo' } }, CALL);

/** Agrees on our page, which is answered by one that goes on to the provider by itself. */
async function leave(page) {
  const { origin } = new URL(page.url());
  await press(page, CONTINUE);
  await until(10_000, 'the browser goes on by itself', () => new URL(page.url()).origin !== origin);
  await page.waitForSelector('h1');
}

/** From our page to the provider's, where the owner signs in if asked and allows, and back. */
async function allow(page, { choice = 'allow' } = {}) {
  await leave(page);
  if ((await heading(page)) === 'Sign in at Example Notes') {
    await page.type('input[name=login]', OWNER.login);
    await page.type('input[name=password]', OWNER.password);
    await press(page, 'button[type=submit]');
  }
  assert.equal(await heading(page), 'Allow access to your notes?');
  await press(page, `button[name=choice][value=${choice}]`);
}

const PLACES = [
  { kind: 'oauth', era: 'modern', language: 'en' },
  { kind: 'oauth', era: 'legacy', language: 'zh-CN' },
  { kind: 'oauth', era: 'modern', postgres: true, language: 'en' },
  { kind: 'oauth', era: 'legacy', postgres: true, language: 'en' },
  { kind: 'mcp', era: 'modern', language: 'en' },
  { kind: 'mcp', era: 'legacy', language: 'en' },
  { kind: 'mcp', era: 'modern', postgres: true, language: 'zh-CN' },
  { kind: 'mcp', era: 'legacy', postgres: true, language: 'en' },
];

for (const { kind, era, postgres = false, language } of PLACES) {
  const skip = postgres && !POSTGRES && 'USHER_TEST_POSTGRES is not set';
  const place = `kind ${kind}, ${era}, ${postgres ? 'PostgreSQL' : 'SQLite'}, ${language}`;
  test(`R-GW-03 R-OAUTH-02 R-OAUTH-05: an account is connected once, renewed by itself, and asked for anew when its owner withdrew it (${place})`, { timeout: TIMEOUT, skip }, async (t) => {
    const store = postgres ? await createDatabase(t) : undefined;
    const { notes, service, browser } = await connected(t, { kind, store, language });
    const asked = [];
    let visited;
    const visit = async (url) => {
      await browser.goto(url);
      if (!postgres) await inspect(browser, `account-connect/${kind}-${language}`);
      assert.match(await text(browser), /notes:read/);
      await allow(browser);
      assert.equal(await heading(browser), language === 'en' ? 'Connected' : '已连接');
      if (!postgres) await inspect(browser, `account-done/${kind}-${language}`);
      if (kind === 'oauth') assert.match(await text(browser), new RegExp(OWNER.name));
    };
    const answer = ({ url }) => {
      asked.push(url);
      visited = visit(url);
      return { action: 'accept' };
    };
    const client = await connect(t, service, { era, answer });
    if (kind === 'mcp') assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['connect']);

    // Connected in the middle of the call, which goes on.
    if (kind === 'mcp') await client.callTool({ name: 'connect', arguments: {} }, CALL);
    const { content } = await forecast(client);
    assert.equal(content[0].text, 'sunny in Oslo');
    await visited;
    assert.equal(asked.length, 1);
    assert.deepEqual([notes.count('exchanged'), notes.count('refreshed')], [1, 0]);
    if (kind === 'mcp') assert.equal(notes.count('registered'), 1);
    if (kind === 'mcp') await until(10_000, 'the tools of the server', async () => (await client.listTools()).tools.length > 1);

    // Twice: the second time by the refresh token that came with the first.
    for (const times of [1, 2]) {
      await notes.expire(notes.tokens().at(-1));
      assert.equal((await forecast(client)).content[0].text, 'sunny in Oslo');
      assert.equal(notes.count('refreshed'), times);
    }
    assert.equal(new Set(notes.tokens()).size, 3);
    assert.equal(asked.length, 1, 'nobody was asked for what renews itself');

    await notes.withdraw(notes.tokens().at(-1));
    assert.equal((await forecast(client)).content[0].text, 'sunny in Oslo');
    await visited;
    assert.equal(asked.length, 2);
    assert.equal(notes.count('exchanged'), 2);

    for (const token of notes.tokens()) assert.ok(!service.log().includes(token), 'a token is in the log');
    assert.ok(!service.log().includes(CLIENT.secret));
  });
}

for (const language of ['en', 'zh-CN']) {
  test(`R-ACT-01 R-SEC-04: who does not agree at the provider comes back to a page that says so, and can start again (${language})`, { timeout: TIMEOUT }, async (t) => {
    const { notes, service, browser } = await connected(t, { kind: 'oauth', language });
    let visited;
    const visit = async (url) => {
      await browser.goto(url);
      await allow(browser, { choice: 'deny' });
      assert.equal(new URL(browser.url()).origin, service.origin);
      assert.match(await text(browser), /Example Notes|示例笔记/);
      await inspect(browser, `oauth-refused/${language}`);
      await press(browser, 'main form button.main');
      await allow(browser);
      assert.equal(await heading(browser), language === 'en' ? 'Connected' : '已连接');
    };
    const answer = ({ url }) => {
      visited = visit(url);
      return { action: 'accept' };
    };
    const client = await connect(t, service, { era: 'modern', answer });
    assert.equal((await forecast(client)).content[0].text, 'sunny in Oslo');
    await visited;
    assert.equal(notes.count('exchanged'), 1);
  });
}

test('R-OAUTH-01: a provider whose authorization endpoint sends the browser on to another origin is connected', { timeout: TIMEOUT }, async (t) => {
  const { notes, service, browser } = await connected(t, { kind: 'oauth', forwards: true });
  assert.notEqual(notes.entry, notes.issuer);
  let visited;
  const visit = async (url) => {
    await browser.goto(url);
    assert.match(await text(browser), new RegExp(new URL(notes.entry).host), 'the page names where the browser goes');
    await allow(browser);
    assert.equal(await heading(browser), 'Connected');
  };
  const answer = ({ url }) => {
    visited = visit(url);
    return { action: 'accept' };
  };
  const client = await connect(t, service, { era: 'modern', answer });
  assert.equal((await forecast(client)).content[0].text, 'sunny in Oslo');
  await visited;
  assert.deepEqual([notes.count('forwarded'), notes.count('exchanged')], [1, 1]);
});

test('R-ACT-03: who declines on our page is never sent to the provider', { timeout: TIMEOUT }, async (t) => {
  const { notes, service, browser } = await connected(t, { kind: 'oauth' });
  let visited;
  const visit = async (url) => {
    await browser.goto(url);
    await press(browser, DECLINE);
  };
  const answer = ({ url }) => {
    visited = visit(url);
    return { action: 'accept' };
  };
  const client = await connect(t, service, { era: 'modern', answer });
  const result = await forecast(client);
  await visited;
  assert.ok(result.isError);
  assert.match(result.content[0].text, /declined/i);
  assert.equal(notes.count('code'), 0);
});

test('R-OAUTH-01: who disconnects in the portal has the access revoked at the provider, and is asked anew', { timeout: TIMEOUT }, async (t) => {
  const { notes, service, browser } = await connected(t, { kind: 'oauth' });
  let asked = 0;
  let visited;
  const visit = async (url) => {
    await browser.goto(url);
    await allow(browser);
  };
  const answer = ({ url }) => {
    asked += 1;
    visited = asked === 1 ? visit(url) : undefined;
    return { action: asked === 1 ? 'accept' : 'decline' };
  };
  const client = await connect(t, service, { era: 'legacy', answer });
  await forecast(client);
  await visited;
  await browser.goto(service.origin);
  await inspect(browser, 'portal-oauth');
  assert.match(await text(browser), new RegExp(OWNER.name));
  await press(browser, 'a[href*="disconnect"], button[value=disconnect]');
  await inspect(browser, 'portal-oauth-disconnect');
  await press(browser, 'main form button[type=submit], main form button:not([type])');
  assert.ok(notes.count('revoked') >= 1, 'nothing was revoked at the provider');
  assert.ok((await forecast(client)).isError);
  assert.equal(asked, 2);
});
