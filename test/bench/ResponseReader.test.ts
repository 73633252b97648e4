import { describe, expect, it } from "@effect/vitest"
import { MalformedResponse, ResponseReader } from "../../bench/load/ResponseReader.ts"

const text =
  "HTTP/1.1 402 Payment Required\r\nX-Request-Id: 1\r\ncontent-length: 13\r\nVia: x\r\n\r\n{\"a\":\"\r\n\r\nb\"}"

describe("ResponseReader", () => {
  // Goal: a response is recognised wherever the network cuts it. Method: cut one at every byte.
  it("reads a response that arrives split at any point", () => {
    for (let cut = 1; cut < text.length; cut++) {
      const reader = new ResponseReader()
      expect(reader.push(text.slice(0, cut))).toBeUndefined()
      expect(reader.push(text.slice(cut))).toEqual({ status: 402, body: "{\"a\":\"\r\n\r\nb\"}" })
    }
  })

  // Goal: a reader serves a kept-alive connection. Method: two whole responses one after the other.
  it("reads several responses one after another", () => {
    const reader = new ResponseReader()
    expect(reader.push(text)?.status).toBe(402)
    expect(reader.push(text)?.status).toBe(402)
  })

  // Goal: a response not attributable to one request is an error and never a success. Method: one case of each.
  it("refuses data that is not a response", () => {
    const push = (bytes: string) => () => new ResponseReader().push(bytes)
    expect(push(`${text}x`)).toThrow(MalformedResponse)
    expect(push("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")).toThrow(MalformedResponse)
    expect(push("SSH-2.0-OpenSSH\r\n\r\n")).toThrow(MalformedResponse)
    expect(push("HTTP/1.1 200 OK\r\nX: ".padEnd(70_000, "x"))).toThrow(MalformedResponse)
  })
})
