// Tools that send something before they answer: progress, log lines, changed lists, a stream that breaks.

import { setTimeout as pause } from 'node:timers/promises';
import { NOTHING, text } from './content.mjs';

export function registerSignals(server, changed) {
  const tool = (name, description, run) => server.registerTool(name, { description, inputSchema: NOTHING }, run);

  tool('test_tool_with_progress', 'Tells how far it is.', async (_, context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await context.mcpReq.notify({ method: 'notifications/progress', params });
      await pause(20);
    }
    return text('Done.');
  });
  // The suite waits half a second for the second one, which takes no time here.
  for (const [name, milliseconds] of [['test_tool_with_logging', 20], ['test_logging_tool', 0]]) {
    tool(name, 'Writes log lines.', async (_, context) => {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await context.mcpReq.log('info', line);
        if (milliseconds) await pause(milliseconds);
      }
      return text('Logged.');
    });
  }
  tool('test_reconnection', 'Breaks its stream before it answers.', async (_, context) => {
    context.http?.closeSSE?.();
    await pause(100);
    return text('Resumed.');
  });
  tool('test_trigger_tool_change', 'Says that the tools changed.', () => {
    changed.tools();
    return text('Changed.');
  });
  tool('test_trigger_prompt_change', 'Says that the prompts changed.', () => {
    changed.prompts();
    return text('Changed.');
  });
}
