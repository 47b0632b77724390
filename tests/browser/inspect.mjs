// What holds for every page, whatever is on it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { shoot } from './setup.mjs';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const WIDTHS = [1024, 320];
const SCHEMES = ['light', 'dark'];

/** Title of each page seen, by its name: no two pages share one, but states of one page may. */
const titles = new Map();

/** Checks the page as it is now, in light and dark, wide and narrow. `name` is a page, or `page/state`. */
export async function inspect(page, name) {
  await structure(page, name);
  for (const scheme of SCHEMES) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 768 });
      await shoot(page, `${name}-${scheme}-${width}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${name}: ${wide} px too wide at ${width} px`);
      await accessible(page, `${name}, ${scheme}, ${width} px`);
    }
  }
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1024, height: 768 });
}

async function structure(page, name) {
  const found = await page.evaluate(() => ({
    title: document.title,
    lang: document.documentElement.lang,
    headings: document.querySelectorAll('h1').length,
    mains: document.querySelectorAll('main').length,
    inline: document.querySelectorAll('script:not([src]), style, [style], [onclick], [onsubmit]').length,
    foreign: [...document.querySelectorAll('[src], link[href]')]
      .map((element) => element.src || element.href)
      .filter((address) => !address.startsWith(location.origin) && !address.startsWith('data:')),
  }));
  assert.ok(found.title.trim(), `${name}: no title`);
  const family = (name) => name.split('/')[0];
  const other = [...titles].find(([page, title]) => family(page) !== family(name) && title === found.title);
  assert.ok(!other, `${name} has the title of ${other?.[0]}: ${found.title}`);
  titles.set(name, found.title);
  assert.match(found.lang, /^(en|zh-CN|zh-Hans)/, `${name}: lang`);
  assert.equal(found.headings, 1, `${name}: one h1`);
  assert.equal(found.mains, 1, `${name}: one main`);
  assert.equal(found.inline, 0, `${name}: inline script or style`);
  assert.deepEqual(found.foreign, [], `${name}: resources of others`);
}

async function accessible(page, where) {
  // The debugger's own evaluation is not bound by the page's content security policy.
  if (!(await page.evaluate(() => Boolean(window.axe)))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (values) => {
    const { violations } = await window.axe.run(document, { runOnly: { type: 'tag', values } });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, RULES);
  assert.deepEqual(violations, [], where);
}
