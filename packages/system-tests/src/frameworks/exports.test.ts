import { expect, test } from '@jest/globals'
import * as core from '@sluice/core'
import * as express from '@sluice/express'
import * as fastify from '@sluice/fastify'
import * as hono from '@sluice/hono'
import * as koa from '@sluice/koa'
import * as nest from '@sluice/nest'
import * as node from '@sluice/node'

/** What Hono throws is one of its own errors. */
const own = new Map<object, object>([[hono, { RateLimitError: hono.RateLimitError }]])

test.each(Object.entries({ express, fastify, hono, koa, nest, node }))(
  '%s exports all that core exports, such as the classes of errors, to compare with',
  (_, adapter) => {
    expect({ ...adapter }).toMatchObject({ ...core, ...own.get(adapter) })
    expect({ ...adapter }).toHaveProperty('RateLimitError')
  },
)
