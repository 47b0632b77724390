// Loaded before the suite, which cannot be told to send a token: adds the one in USHER_TOKEN to all that it sends, by
// each of the three ways that it sends (fetch, undici, node:http), and changes nothing else.

import http from 'node:http';
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';

const authorization = `Bearer ${process.env.USHER_TOKEN}`;

const send = globalThis.fetch;
globalThis.fetch = (target, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('authorization', authorization);
  return send(target, { ...init, headers });
};

const dispatcher = getGlobalDispatcher();
setGlobalDispatcher(
  dispatcher.compose((dispatch) => (options, handler) => {
    // The headers of fetch come here as a list, and have the token already.
    const headers = Array.isArray(options.headers) ? options.headers : { ...options.headers, authorization };
    return dispatch({ ...options, headers }, handler);
  }),
);

const request = http.request;
http.request = (options, listener) => request({ ...options, headers: { ...options.headers, authorization } }, listener);
