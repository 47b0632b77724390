// A person in a browser, as far as requests go: cookies, forms, the headers that a browser sends.

import { request } from 'node:http';
import { within } from './deadline.mjs';

/** Decodes what a template escapes. */
function unescape(text) {
  const names = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name) => {
    if (name[0] !== '#') return names[name] ?? whole;
    return String.fromCodePoint(name[1] === 'x' ? parseInt(name.slice(2), 16) : Number(name.slice(1)));
  });
}

/** Attributes of a start tag, by name. */
function attributes(tag) {
  const found = {};
  for (const [, name, , , quoted, single, plain] of tag.matchAll(/([\w-]+)(=("([^"]*)"|'([^']*)'|([^\s>]*)))?/g)) {
    found[name.toLowerCase()] ??= unescape(quoted ?? single ?? plain ?? '');
  }
  return found;
}

/** The forms of a page: `{ action, method, fields, buttons }`. */
export function forms(html) {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].map(([, tag, inner]) => {
    const inputs = [...inner.matchAll(/<input\b([^>]*)>/gi)].map(([, input]) => attributes(input));
    return {
      action: attributes(tag).action,
      method: (attributes(tag).method ?? 'get').toUpperCase(),
      fields: Object.fromEntries(inputs.filter(({ name }) => name).map(({ name, value }) => [name, value ?? ''])),
      buttons: [...inner.matchAll(/<button\b([^>]*)>/gi)].map(([, button]) => attributes(button)),
    };
  });
}

/** One browser of one person; it keeps the cookies of one origin. */
export class Person {
  #cookies = new Map();

  constructor(service) {
    this.service = service;
  }

  /** Signs in by a link from the terminal. */
  async signIn() {
    const page = await this.visit(await this.service.login());
    const form = forms(page.body).find(({ method }) => method === 'POST');
    if (!form) throw new Error(`the sign-in page has no form: ${page.status} ${page.body}`);
    const after = await this.submit(page, form);
    if (after.status !== 200) throw new Error(`sign-in ended in ${after.status}: ${after.body}`);
    return this;
  }

  /** Opens the page of a question and presses `action` there, with `fields` filled in. */
  async answer(url, action, fields = {}) {
    const page = await this.visit(url);
    const presses = ({ name, value }) => name === 'action' && value === action;
    const form = forms(page.body).find(({ buttons }) => buttons.some(presses));
    if (!form) throw new Error(`the page has no button ${action}: ${page.status} ${page.body}`);
    return this.submit(page, form, { ...fields, action });
  }

  connect(url, key) {
    return this.answer(url, 'connect', { api_key: key });
  }

  decline(url) {
    return this.answer(url, 'decline');
  }

  /** GET, as from an address that was typed in. */
  visit(url) {
    return this.#go('GET', new URL(url), { 'sec-fetch-site': 'none' });
  }

  /** Sends `form` of `page` with `fields` over its own. */
  submit(page, form, fields = {}) {
    const target = new URL(form.action ?? '', page.url);
    const body = new URLSearchParams({ ...form.fields, ...fields }).toString();
    return this.#go('POST', target, { origin: target.origin, 'sec-fetch-site': 'same-origin' }, body);
  }

  async #go(method, url, headers, body, hops = 0) {
    const answer = await within(15_000, `${method} ${url.pathname}`, this.#send(method, url, headers, body));
    const location = answer.headers.location;
    if (answer.status < 300 || answer.status > 399 || !location) return answer;
    if (hops === 5) throw new Error(`too many redirects, the last to ${location}`);
    const next = new URL(location, url);
    if (next.origin !== url.origin) throw new Error(`sent to another origin: ${next.origin}`);
    return this.#go('GET', next, { 'sec-fetch-site': headers['sec-fetch-site'] }, undefined, hops + 1);
  }

  #send(method, url, headers, body) {
    return new Promise((resolve, reject) => {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const outgoing = request(url, {
        method,
        headers: {
          accept: 'text/html',
          'accept-language': 'en',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
          'sec-fetch-user': '?1',
          ...(cookie && { cookie }),
          ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
      });
      outgoing.on('error', reject);
      outgoing.on('response', async (incoming) => {
        this.#keep(incoming.headers['set-cookie'] ?? []);
        const chunks = [];
        try {
          for await (const chunk of incoming) chunks.push(chunk);
        } catch (error) {
          return reject(error);
        }
        return resolve({
          url: url.href,
          status: incoming.statusCode,
          headers: incoming.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        });
      });
      outgoing.end(body);
    });
  }

  #keep(lines) {
    for (const line of lines) {
      const [pair, ...rest] = line.split(';');
      const name = pair.slice(0, pair.indexOf('=')).trim();
      const value = pair.slice(pair.indexOf('=') + 1).trim();
      const gone = rest.some((part) => /^\s*max-age=0$/i.test(part));
      if (gone) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}
