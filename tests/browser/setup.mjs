// Chromium, a gateway, and a page that is watched while a test drives it.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import puppeteer from 'puppeteer-core';
import { startUpstream } from '../support/upstream.mjs';
import { startUsher } from '../support/usher.mjs';

export { ask, callTool } from '../support/call.mjs';

/** How long a test may take in all, in milliseconds. */
export const TIMEOUT = 90_000;
export const GOOD_KEY = 'key-good-1234567890';
export const BAD_KEY = 'key-wrong-0987654321';

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Chromium's sandbox refuses to run as root.
  ...(process.getuid() === 0 ? ['--no-sandbox'] : []),
];

let browser;

/** One browser for the tests of a file, with these flags of Chromium besides. */
export function useBrowser(flags = []) {
  before(async () => {
    assert.ok(process.env.CHROMIUM, 'CHROMIUM is not set: run these tests by `cargo xtask test`');
    browser = await puppeteer.launch({
      executablePath: process.env.CHROMIUM,
      headless: true,
      args: [...FLAGS, ...flags],
      timeout: 30_000,
      protocolTimeout: 30_000,
    });
  });
  after(() => browser?.close());
}

/** Upstream and gateway for the test `t`; `GOOD_KEY` is good at both the provider and the upstream. */
export async function stage(t) {
  const upstream = await startUpstream();
  t.after(() => upstream.stop());
  upstream.keys.add(GOOD_KEY);
  const service = await startUsher({ upstream: upstream.origin, hold: '1s' });
  t.after(() => service.stop());
  return { upstream, service };
}

/**
 * A page in a browser profile of its own, watched: a script error, a message of the console, a violation of the
 * content security policy or a request to somebody else fails the test when it ends. `elsewhere` are origins of others
 * that it may be led to.
 */
export async function openPage(t, service, { language = 'en', script = true, elsewhere = [] } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.setJavaScriptEnabled(script);
  await page.setExtraHTTPHeaders({ 'accept-language': language });
  await page.setViewport({ width: 1024, height: 768 });
  const faults = watch(page, service.origin, elsewhere);
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  return page;
}

function watch(page, origin, elsewhere) {
  const faults = [];
  page.on('pageerror', (error) => faults.push(`script error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    // A page that says "not found" has that status, which the console repeats.
    const ownStatus = message.text().startsWith('Failed to load resource') && message.location().url === page.url();
    if (!ownStatus && ['error', 'warn', 'assert'].includes(message.type())) {
      faults.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const led = request.isNavigationRequest() && elsewhere.includes(url.origin);
    if (url.origin !== origin && url.protocol !== 'data:' && !led) faults.push(`request to ${url.origin}`);
  });
  page.on('requestfailed', (request) => {
    const failure = request.failure()?.errorText;
    if (failure !== 'net::ERR_ABORTED') faults.push(`${request.url()}: ${failure}`);
  });
  return faults;
}

/** Clicks what `selector` finds, and waits for the page that follows. */
export async function press(page, selector) {
  const [response] = await Promise.all([page.waitForNavigation(), page.click(selector)]);
  return response;
}

/** Signs in by a link from the terminal; ends where the service sends the browser. */
export async function signIn(page, service) {
  await page.goto(await service.login());
  return press(page, 'main form button[type=submit], main form button:not([type])');
}

export const CONNECT = 'button[name=action][value=connect]';
export const DECLINE = 'button[name=action][value=decline]';
export const FIELD = 'input[name=api_key]';

export const heading = (page) => page.$eval('h1', (element) => element.innerText.trim());
export const text = (page) => page.$eval('body', (element) => element.innerText);

/** Writes pictures of the page when USHER_SCREENSHOTS is set: beside the built program. */
export async function shoot(page, name) {
  if (!process.env.USHER_SCREENSHOTS) return;
  const folder = join(dirname(process.env.USHER_BIN), '..', 'usher-screenshots');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name.replaceAll('/', '-')}.png`), fullPage: true });
}
