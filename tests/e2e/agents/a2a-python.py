"""The official Python SDK at agents behind the gateway, and as an agent: a2a-python.py client BASE KEY BINDING | server PORT VERSION."""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import GetTaskRequest, ListTasksRequest, SendMessageRequest
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK


def message(text):
    return ParseDict(
        {"message": {"messageId": f"m-{text}", "role": "ROLE_USER", "parts": [{"text": text}]}},
        SendMessageRequest(),
    )


async def client(base, key, binding):
    http = httpx.AsyncClient(headers={"x-api-key": key}, timeout=60)
    origin, tenant = base.split("/a2a/")[0], base.split("/a2a/")[1].split("/")[0]
    keys = {one["kid"]: PyJWK(one) for one in (await http.get(f"{origin}/.well-known/a2a-jwks/{tenant}")).json()["keys"]}
    verifier = create_signature_verifier(lambda kid, jku: keys[kid], ["EdDSA"])
    said = {}
    for streaming in (False, True):
        config = ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding])
        one = await create_client(f"{base}/", config, signature_verifier=verifier)
        events = [MessageToDict(event) async for event in one.send_message(message("count 4" if streaming else "complete hello"))]
        said["stream" if streaming else "whole"] = events
        if not streaming:
            task = await one.get_task(GetTaskRequest(id=events[-1]["task"]["id"]))
            said["task"] = MessageToDict(task)
            said["listed"] = len((await one.list_tasks(ListTasksRequest(page_size=5))).tasks)
            try:
                await one.get_task(GetTaskRequest(id="none"))
            except Exception as error:
                said["missing"] = type(error).__name__
    print(json.dumps(said))


def server(port, version):
    import uvicorn
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
    from starlette.applications import Starlette

    class Executor(AgentExecutor):
        async def execute(self, context, queue):
            text = "".join(part.text for part in context.message.parts)
            if not context.current_task:
                task = Task(id=context.task_id, context_id=context.context_id, status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED))
                task.history.append(context.message)
                await queue.enqueue_event(task)
            updater = TaskUpdater(queue, context.task_id, context.context_id)
            await updater.start_work()
            verb, _, rest = text.partition(" ")
            steps = [f"{at};" for at in range(1, int(rest) + 1)] if verb == "count" else [rest]
            for at, step in enumerate(steps):
                await updater.add_artifact([Part(text=step)], artifact_id="said", append=at > 0, last_chunk=at == len(steps) - 1)
                await asyncio.sleep(0.01)
            await updater.complete()

        async def cancel(self, context, queue):
            await TaskUpdater(queue, context.task_id, context.context_id).cancel()

    old = version == "0.3"
    url = f"http://127.0.0.1:{port}/a2a"
    card = AgentCard(
        name="Python",
        description="An agent of the Python SDK.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC" if old else "HTTP+JSON", protocol_version="0.3" if old else "1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="talk", name="Talk", description="Talks.", tags=["talk"])],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = (
        create_jsonrpc_routes(handler, rpc_url="/a2a", enable_v0_3_compat=True) if old else create_rest_routes(handler, path_prefix="/a2a")
    )
    uvicorn.run(Starlette(routes=[*create_agent_card_routes(card), *routes]), host="127.0.0.1", port=port, log_level="warning")


if sys.argv[1] == "server":
    server(int(sys.argv[2]), sys.argv[3])
else:
    asyncio.run(client(*sys.argv[2:5]))
