// One modern tools/call by hand, as a host without any library would send it.

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'Pocket Assistant', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
};

/** Calls `get_forecast`; `more` is what a retry adds. Returns the JSON-RPC message that answers it. */
export async function callTool(service, more = {}) {
  const params = { name: 'get_forecast', arguments: { city: 'Oslo' }, _meta: META, ...more };
  const response = await service.fetch(service.mcp, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': 'get_forecast',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const data = text.split(/\r?\n/).findLast((line) => line.startsWith('data:'))?.slice(5);
  return JSON.parse(data ?? text);
}

/** Makes the gateway ask. `url` is the link, `retry()` the same call after the visit. */
export async function ask(service) {
  const message = await callTool(service);
  const requests = Object.entries(message.result?.inputRequests ?? {});
  if (requests.length !== 1) throw new Error(`no question: ${JSON.stringify(message)}`);
  const [[key, { params }]] = requests;
  const more = { inputResponses: { [key]: { action: 'accept' } }, requestState: message.result.requestState };
  return { url: params.url, retry: () => callTool(service, more) };
}
